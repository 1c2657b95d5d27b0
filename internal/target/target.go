package target

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/schemas"
)

// CodeUnknown is that of an error about a service that is not configured.
const CodeUnknown = "unknown_target"

// Service is where requests to one target go.
type Service struct {
	URL           string // without a slash at the end
	Key           []byte // signs; nil for none
	Authorization string // the header field; "" for none
	Timeout       time.Duration
}

// Options are what a Targets is made of. All members are set.
type Options struct {
	Services map[string]Service
	Requests *outbound.Client
	Sealer   delivery.Sealer
	Log      *slog.Logger
	Now      func() time.Time
}

// Targets asks and tells services. It may be used by many goroutines at once.
type Targets struct {
	Options
	clients map[string]*outbound.Client
}

// maxReply bounds what a service may answer, in bytes.
const maxReply = 64 << 10

// New returns the targets. It fails if the URL of one may not be asked, as far as it
// alone tells that.
func New(o Options) (*Targets, error) {
	t := &Targets{Options: o, clients: make(map[string]*outbound.Client)}
	for _, name := range t.Names() {
		if err := o.Requests.Check(o.Services[name].URL); err != nil {
			return nil, fmt.Errorf("http.targets.%s.url: %w", name, err)
		}
		t.clients[name] = o.Requests.With(func(r *outbound.Rules) {
			r.Timeout, r.MaxBytes, r.Redirects = o.Services[name].Timeout, maxReply, 0
		})
	}
	return t, nil
}

// Names are those of all services, sorted; never nil.
func (t *Targets) Names() []string {
	names := slices.AppendSeq([]string{}, maps.Keys(t.Services))
	slices.Sort(names)
	return names
}

// Call makes a call and waits for the answer. The error is a *schemas.Error if there is
// none, and the cause is in the log: it would tell a stranger what is inside.
func (t *Targets) Call(ctx context.Context, c schemas.Call) (*schemas.CallReply, error) {
	reply, err := t.do(ctx, c)
	if err != nil {
		t.Log.WarnContext(ctx, "a service that a flow asks gave no answer", "target", c.Target, "id", c.ID, "error", err)
		return nil, err
	}
	answer := &schemas.CallReply{Status: reply.Status}
	if isJSON(reply.Header.Get("Content-Type")) && json.Valid(reply.Body) {
		answer.JSON = reply.Body
	}
	return answer, nil
}

func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"))
}

// do makes the request of a call.
func (t *Targets) do(ctx context.Context, c schemas.Call) (*outbound.Response, error) {
	service, known := t.Services[c.Target]
	if !known {
		return nil, schemas.Errorf(schemas.Unavailable, CodeUnknown, "the target %q is not configured: add it to http.targets%s", c.Target, schemas.Hint(c.Target, t.Names()))
	}
	// The path cannot leave what the operator named: it begins with a slash, so it is
	// no part of the host, and has no dots (see nodes/http_path.go).
	r, err := http.NewRequest(c.Method, service.URL+c.Path, bytes.NewReader(c.Body))
	if err != nil {
		return nil, schemas.Errorf(schemas.Invalid, outbound.CodeRefused, "the path cannot be read")
	}
	r.Header.Set("Accept", "application/json")
	if c.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if service.Authorization != "" {
		r.Header.Set("Authorization", service.Authorization)
	}
	r.Header.Set("Idempotency-Key", c.ID)
	sign(r.Header, service.Key, c.ID, t.Now(), c.Body)
	return t.clients[c.Target].Do(ctx, r)
}
