package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/postern-id/postern/server/runs"
)

// traceHeader contains the id of the request in the log.
const traceHeader = "X-Trace-Id"

// exchange is a request with its reply, for the log. It is the ResponseWriter of handlers.
type exchange struct {
	http.ResponseWriter
	traceID string // 32 hexadecimal digits
	route   string // the path's template: the path itself can contain anything
	code    string // of the error, if the reply is one
	status  int    // 0 until the reply has begun
	bytes   int64  // of the reply's body
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
		defer func() { s.logExchange(r, x, time.Since(begun)) }()
		next.ServeHTTP(x, r.WithContext(context.WithValue(runs.WithTrace(r.Context(), x.traceID), exchangeKey{}, x)))
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

// traceOf returns the trace id of a valid traceparent (W3C Trace Context §3.2), otherwise a new
// one.
func traceOf(parent string) string {
	if id, ok := parentTrace(parent); ok {
		return id
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // crypto/rand.Read never fails
	return hex.EncodeToString(id[:])
}

// parentTrace reads version-traceid-parentid-flags. A later version can have more fields.
func parentTrace(parent string) (id string, ok bool) {
	const version, trace, span, length = 2, 3 + 32, 36 + 16, 55
	if len(parent) < length || parent[version] != '-' || parent[trace] != '-' || parent[span] != '-' {
		return "", false
	}
	if parent[:version] == "ff" || parent[:version] == "00" && len(parent) > length || len(parent) > length && parent[length] != '-' {
		return "", false
	}
	id = parent[3:trace]
	for _, field := range []string{parent[:version], id, parent[36:span], parent[53:length]} {
		if strings.Trim(field, "0123456789abcdef") != "" {
			return "", false
		}
	}
	return id, strings.Trim(id, "0") != "" && strings.Trim(parent[36:span], "0") != ""
}
