package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/runs"
)

// traceHeader contains the id of the request in the log.
const traceHeader = "X-Trace-Id"

// exchange is a request with its reply, for the log. It is the ResponseWriter of handlers.
type exchange struct {
	http.ResponseWriter
	traceID string  // 32 hexadecimal digits
	route   string  // the path's template: the path itself can contain anything
	caller  *caller // nil before it is authenticated
	needs   need    // of the endpoint
	code    string  // of the error, if the reply is one
	status  int     // 0 until the reply has begun
	bytes   int64   // of the reply's body
}

type exchangeKey struct{}

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

// observe assigns a trace id to every request and logs it at the end.
func (s *server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		x := &exchange{ResponseWriter: w, traceID: traceOf(r.Header.Get("Traceparent"))}
		w.Header().Set(traceHeader, x.traceID)
		defer func() {
			took := time.Since(begun)
			s.logExchange(r, x, took)
			if isSignIn(x.route) {
				s.latency.add(s.now(), took)
			}
		}()
		ctx := schemas.WithOrigin(runs.WithTrace(r.Context(), x.traceID), s.requestOrigin(r))
		next.ServeHTTP(x, r.WithContext(context.WithValue(ctx, exchangeKey{}, x)))
	})
}

// logExchange writes the access log. Of what a client chose it contains only the method: not the
// path, which can contain anything, the query or any header. It does not contain the client's
// address, which is personal data.
func (s *server) logExchange(r *http.Request, x *exchange, took time.Duration) {
	level := slog.LevelInfo
	if strings.HasPrefix(x.route, "/health/") {
		level = slog.LevelDebug // probes arrive every few seconds
	}
	const longestMethod = 16
	s.Log.LogAttrs(r.Context(), level, "request",
		slog.String("method", r.Method[:min(len(r.Method), longestMethod)]),
		slog.String("route", x.route),
		slog.Int("status", x.status),
		slog.String("code", x.code),
		slog.Duration("duration", took),
		slog.Int64("bytes", x.bytes),
		slog.String("traceId", x.traceID))
}

// traceParent is version-traceid-parentid-flags. A later version can have more fields.
var traceParent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)

// traceOf returns the trace id of a valid traceparent (W3C Trace Context §3.2), otherwise a new
// one.
func traceOf(parent string) string {
	if field := traceParent.FindStringSubmatch(parent); field != nil {
		version, id, span, more := field[1], field[2], field[3], field[4]
		if version != "ff" && (version != "00" || more == "") && strings.Trim(id, "0") != "" && strings.Trim(span, "0") != "" {
			return id
		}
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // crypto/rand.Read never fails
	return hex.EncodeToString(id[:])
}
