package runs

import (
	"context"
	"net/http"
	"strings"

	"golang.org/x/text/language"

	"github.com/postern-id/postern/engine"
)

// NewRequest returns the request of a run with the properties of its sender, but without the
// origin: for some endpoints that is the page that led to them.
func NewRequest(r *http.Request) engine.Request {
	return engine.Request{
		Language:  preferredLanguage(r.Header.Get("Accept-Language")),
		UserAgent: r.UserAgent(),
		TraceID:   TraceID(r.Context()),
	}
}

// preferredLanguage returns the language tag that the client prefers (RFC 9110 §12.5.4), "" for
// none.
func preferredLanguage(field string) string {
	tags, _, err := language.ParseAcceptLanguage(field)
	if err != nil || len(tags) == 0 || strings.HasPrefix(strings.TrimSpace(field), "*") {
		return ""
	}
	return tags[0].String()
}

// Entry is what the access log reports about a request, as far as it is known. It belongs to the
// goroutine of the request.
type Entry struct {
	TraceID     string // 32 hexadecimal digits
	Client      string // the id of the OAuth client
	Application string // the id of the application
	Flow, Node  string // where the run is: the handle of the flow and the id of the node
	Execution   string // the digest of the id of the run: equal in all requests of a sign-in
	User        string // the id of the user
	Refused     string // what the authorization server refused, as parameter=value in printable ASCII
}

// EntryKey is the key of the log entry of a request, an *Entry, among the values of its context.
type EntryKey struct{}

// EntryOf returns the log entry of the request of a context. Outside a request it is an entry that is
// not logged.
func EntryOf(ctx context.Context) *Entry {
	if e, ok := ctx.Value(EntryKey{}).(*Entry); ok {
		return e
	}
	return &Entry{}
}

// TraceID returns the trace id of the request of a context, "" if there is none.
func TraceID(ctx context.Context) string { return EntryOf(ctx).TraceID }
