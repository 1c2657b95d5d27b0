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

type traceKey struct{}

// WithTrace returns a context with the log id of a request.
func WithTrace(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, traceKey{}, id)
}

// TraceID returns the log id of the request of a context, "" if there is none.
func TraceID(ctx context.Context) string {
	id, _ := ctx.Value(traceKey{}).(string)
	return id
}
