package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/postern-id/postern/internal/telemetry"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/runs"
)

// traceHeader contains the id of the request in the log.
const traceHeader = "X-Trace-Id"

// exchange is a request with its reply, for the log. It is the ResponseWriter of handlers.
type exchange struct {
	http.ResponseWriter
	context requestContext
	traceID string    // 32 hexadecimal digits
	traced  [1]string // the value of traceHeader: an array, because a slice would be allocated
	entry   runs.Entry
	isPage  bool    // whether a page answers, and not the API
	route   string  // the path's template: the path itself can contain anything
	caller  *caller // nil before it is authenticated
	needs   need    // of the endpoint
	code    string  // of the error, if the reply is one
	status  int     // 0 until the reply has begun
	bytes   int64   // of the reply's body
}

type exchangeKey struct{}

// requestContext is the context of a request. Its values are about the request itself; context.WithValue
// would add a context for each.
type requestContext struct {
	context.Context
	server   *server
	request  *http.Request
	exchange *exchange
	locate   sync.Once // most requests record no event, and need no origin
	origin   *schemas.Origin
}

// Value implements context.Context.
func (c *requestContext) Value(key any) any {
	switch key.(type) {
	case exchangeKey:
		return c.exchange
	case runs.EntryKey:
		return &c.exchange.entry
	case schemas.OriginKey:
		c.locate.Do(func() { c.origin = c.server.requestOrigin(c.request) })
		return c.origin
	}
	return c.Context.Value(key)
}

// exchangeOf returns the exchange of a request.
func exchangeOf(r *http.Request) *exchange {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	return x
}

// WriteHeader records the status; informational ones come before the reply.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= http.StatusOK {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	return n, err
}

// Unwrap returns the inner writer for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// observe assigns a trace id to every request, and reports it at the end to the log and the telemetry.
func (s *server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		ctx, id, end := s.Telemetry.BeginRequest(r.Context(), r.Header, s.Proxies.IsProxy(r.RemoteAddr))
		x := &exchange{ResponseWriter: w, traceID: id, entry: runs.Entry{TraceID: id}}
		x.context.Context, x.context.server, x.context.request, x.context.exchange = ctx, s, r, x
		x.traced[0] = id
		w.Header()[traceHeader] = x.traced[:]
		defer func() {
			took := time.Since(begun)
			end(s.logExchange(r, x, took))
			if isSignIn(x.route) {
				s.latency.add(s.now(), took)
			}
		}()
		next.ServeHTTP(x, r.WithContext(&x.context))
	})
}

// logExchange writes the access log. Of what a client chose it contains only the method, and what the
// authorization server refused: not the path, which can contain anything, the query or any header. It does not contain the client's
// address, which is personal data. The ids are those of resources.
func (s *server) logExchange(r *http.Request, x *exchange, took time.Duration) telemetry.Exchange {
	const longestMethod = 16
	method := r.Method[:min(len(r.Method), longestMethod)]
	e := x.about()
	if level := x.level(); s.Log.Enabled(r.Context(), level) {
		s.Log.LogAttrs(r.Context(), level, "request", x.attributes(method, e, took)...)
	}
	return telemetry.Exchange{Method: method, Route: x.route, Status: x.status, Code: x.code, Duration: took,
		Client: e.Client, Application: e.Application, Flow: e.Flow, Node: e.Node, Execution: e.Execution, User: e.User}
}

// attributes returns the line of a request.
func (x *exchange) attributes(method string, e runs.Entry, took time.Duration) []slog.Attr {
	attributes := []slog.Attr{
		slog.String("method", method),
		slog.String("route", x.route),
		slog.Int("status", x.status),
		slog.String("code", x.code),
		slog.Duration("duration", took),
		slog.Int64("bytes", x.bytes),
		slog.String("traceId", x.traceID),
	}
	for _, id := range []slog.Attr{
		slog.String("client", e.Client), slog.String("application", e.Application), slog.String("flow", e.Flow), slog.String("node", e.Node), slog.String("execution", e.Execution), slog.String("user", e.User),
		slog.String("refused", e.Refused),
	} {
		if id.Value.String() != "" {
			attributes = append(attributes, id)
		}
	}
	return attributes
}

// about returns the entry, completed with the caller of the API.
func (x *exchange) about() runs.Entry {
	e := x.entry
	if x.caller != nil {
		e.User, e.Client = cmp.Or(e.User, x.caller.userID()), cmp.Or(e.Client, x.caller.Actor.Client)
	}
	return e
}

// level returns the level of the line of a request. Probes arrive every few seconds, and a page loads
// many files.
func (x *exchange) level() slog.Level {
	if strings.HasPrefix(x.route, "/health/") || x.isPage && x.status < http.StatusBadRequest {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
