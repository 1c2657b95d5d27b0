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

// CodeUnknown is the error code for a service that is not configured.
const CodeUnknown = "unknown_target"

// Service is the address of a target and the credentials for it.
type Service struct {
	URL           string // without a slash at the end
	Key           []byte // signs requests; nil for none
	Authorization string // header field; "" for none
	Timeout       time.Duration
}

// Options configure Targets. All members are required.
type Options struct {
	Services map[string]Service
	Requests *outbound.Client
	Sealer   delivery.Sealer
	Log      *slog.Logger
	Now      func() time.Time
}

// Targets calls services. It is safe for concurrent use.
type Targets struct {
	Options
	clients map[string]*outbound.Client
}

// maxReply is the maximum size of a reply in bytes.
const maxReply = 64 << 10

// New returns the targets. It fails if a URL is not allowed, as far as its text shows.
func New(o Options) (*Targets, error) {
	t := &Targets{Options: o, clients: make(map[string]*outbound.Client)}
	for _, name := range t.Names() {
		if err := o.Requests.Check(o.Services[name].URL); err != nil {
			return nil, fmt.Errorf("http.targets.%s.url: %w", name, err)
		}
		t.clients[name] = o.Requests.With(func(r *outbound.Rules) {
			r.Timeout, r.MaxBytes = o.Services[name].Timeout, maxReply
		})
	}
	return t, nil
}

// Names returns the names of all services, sorted; never nil.
func (t *Targets) Names() []string {
	names := slices.AppendSeq([]string{}, maps.Keys(t.Services))
	slices.Sort(names)
	return names
}

// Call makes a call and waits for the reply. Without a reply the error is a *schemas.Error;
// the cause is logged, because it could reveal the internal network.
func (t *Targets) Call(ctx context.Context, c schemas.Call) (*schemas.CallReply, error) {
	reply, err := t.send(ctx, c)
	if err != nil {
		t.Log.WarnContext(ctx, "a service did not reply to a query", "target", c.Target, "id", c.ID, "error", err)
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

// send makes the request of a call.
func (t *Targets) send(ctx context.Context, c schemas.Call) (*outbound.Response, error) {
	service, known := t.Services[c.Target]
	if !known {
		return nil, schemas.Errorf(schemas.Unavailable, CodeUnknown, "the target %q is not configured: add it to http.targets%s", c.Target, schemas.Hint(c.Target, t.Names()))
	}
	// The path cannot change the host: it starts with a slash and has no dot segments (see
	// nodes/http_path.go).
	r, err := http.NewRequest(c.Method, service.URL+c.Path, bytes.NewReader(c.Body))
	if err != nil {
		return nil, schemas.Errorf(schemas.Invalid, outbound.CodeRefused, "the path is invalid")
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
