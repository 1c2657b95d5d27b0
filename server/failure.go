package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// Codes of errors that only this package gives.
const (
	codeUnauthorized         = "unauthorized" // no token; what is wrong with one is invalid_token
	codeInvalidToken         = "invalid_token"
	codeForbidden            = "forbidden"
	codeMethodNotAllowed     = "method_not_allowed"
	codeTooLarge             = "payload_too_large"
	codeOriginNotAllowed     = "origin_not_allowed"
	codeRegistrationDisabled = "registration_disabled"
	codeFlowNotConfigured    = "flow_not_configured"
	codeCancelled            = "request_cancelled"
)

// fail answers a request with an error. It is the only place that does.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r)
	if speaksOAuth(x.route) {
		s.failOAuth(w, r, err)
		return
	}
	status, e := s.readCeremony(r, err)
	s.logFailure(r, status, err)
	x.code, e.TraceID = e.Code, x.traceID
	h := w.Header()
	hardenReply(h)
	if challenge := s.challenge(r, status, err, e); challenge != "" {
		h.Set("WWW-Authenticate", challenge)
	}
	setFailureFields(h, err, e)
	mustWriteJSON(w, status, e)
}

// logFailure logs what went wrong here and is not for the client.
func (s *server) logFailure(r *http.Request, status int, err error) {
	level := slog.LevelError
	switch {
	case schemas.HasCode(err, schemas.CodeStoreUnavailable):
		level, err = slog.LevelWarn, schemas.AsError(err).Err
	case status != http.StatusInternalServerError:
		return
	}
	x := exchangeOf(r)
	s.Log.Log(r.Context(), level, "request failed", slog.String("route", x.route), slog.String("traceId", x.traceID), slog.Any("error", err))
}

// setFailureFields sets the header fields that an error's reply has, whatever its
// form.
func setFailureFields(h http.Header, err error, e *schemas.Error) {
	if e.RetryAfter > 0 {
		seconds := (e.RetryAfter + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	if wrong, ok := errors.AsType[*wrongMethod](err); ok {
		h.Set("Allow", wrong.allow)
	}
}

// mustWriteJSON writes an error. Where not even that can be written it tells the
// client by breaking off.
func mustWriteJSON(w http.ResponseWriter, status int, v any) {
	if err := writeJSON(w, status, v); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// readCeremony returns the status of an error and a copy of what the client is told.
func (s *server) readCeremony(r *http.Request, err error) (int, *schemas.Error) {
	var wrong *wrongMethod
	if errors.As(err, &wrong) {
		return http.StatusMethodNotAllowed, wrong.explain()
	}
	e := *schemas.AsError(err)
	if e.Class == schemas.Internal && r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		e = *schemas.Errorf(schemas.Unavailable, codeCancelled, "the request was cancelled before it was answered")
	}
	if e.Class == schemas.Internal {
		e = *schemas.AsError(errors.New("")) // whatever it says is not for the client
	}
	return statusOf(e.Class), &e
}

// statusOf maps the classes of failure to HTTP.
func statusOf(c schemas.Class) int {
	switch c {
	case schemas.Invalid:
		return http.StatusBadRequest
	case schemas.Unauthenticated:
		return http.StatusUnauthorized
	case schemas.Forbidden:
		return http.StatusForbidden
	case schemas.NotFound:
		return http.StatusNotFound
	case schemas.Conflict:
		return http.StatusConflict
	case schemas.Precondition:
		return http.StatusPreconditionFailed
	case schemas.TooLarge:
		return http.StatusRequestEntityTooLarge
	case schemas.Throttled:
		return http.StatusTooManyRequests
	case schemas.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// challenge is the WWW-Authenticate field of a reply, "" for none.
func (s *server) challenge(r *http.Request, status int, err error, e *schemas.Error) string {
	if exchangeOf(r).route == oauth.ToolsPath {
		return s.toolChallenge(r, status, e)
	}
	return challengeFor(r, status, err, e)
}

// challengeFor is the WWW-Authenticate field of RFC 6750 §3. A request that
// brought no token is told only that one is wanted (§3.1). One that may not do
// what it asks for is told the scope that would do, if there is one: where a
// rule forbids it, that is the one above all.
func challengeFor(r *http.Request, status int, err error, e *schemas.Error) string {
	sent := r.Header.Get("Authorization") != ""
	switch {
	case schemas.HasCode(err, schemas.CodeStaleProof): // RFC 9470 §3
		return fmt.Sprintf(`Bearer realm="postern", error=%q, max_age=%d, error_description=%s`,
			schemas.CodeStaleProof, int(directory.MaxProofAge.Seconds()), quotedString(e.Description.DefaultValue))
	case status == http.StatusUnauthorized && sent:
		return `Bearer realm="postern", error="invalid_token", error_description=` + quotedString(e.Description.DefaultValue)
	case status == http.StatusUnauthorized:
		return `Bearer realm="postern"`
	case status == http.StatusForbidden && sent:
		return `Bearer realm="postern", error="insufficient_scope"` + wantedScope(err)
	}
	return ""
}

// wantedScope names the scope that a token lacked, if it was that.
func wantedScope(err error) string {
	lacked := need("system")
	if l, ok := errors.AsType[*insufficientToken](err); ok {
		lacked = l.needs
		if l.account() {
			lacked = schemas.AccountScope
		}
	}
	if schemas.HasCode(err, directory.CodeInsufficientScope) {
		lacked = schemas.AccountScope
	}
	if lacked == userToken {
		return ""
	}
	return ", scope=" + quotedString(string(lacked))
}

// quotedString writes an error_description: RFC 6750 §3 leaves out quotes,
// backslashes and everything that is not printable ASCII.
func quotedString(text string) string {
	kept := make([]byte, 0, len(text)+2)
	kept = append(kept, '"')
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			kept = append(kept, '\'')
		case c >= ' ' && c < 0x7f:
			kept = append(kept, c)
		}
	}
	return string(append(kept, '"'))
}

// wrongMethod is the error of a method that a resource does not have.
type wrongMethod struct{ method, path, allow string }

// Error says what the client is told.
func (e *wrongMethod) Error() string { return e.explain().Error() }

func (e *wrongMethod) explain() *schemas.Error {
	return schemas.Errorf(schemas.Invalid, codeMethodNotAllowed, "%s does not take %.16s; it takes %s", e.path, e.method, e.allow)
}

// notFound answers for paths that are not the server's.
func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, schemas.Errorf(schemas.NotFound, schemas.CodeNotFound, "there is nothing at %.200q%s", r.URL.Path, schemas.Hint(r.URL.Path, s.paths)))
}

// requestFault makes an error about something that a body or query names the
// request's fault: 404 is for paths.
func requestFault(err error) error {
	var e *schemas.Error
	if !errors.As(err, &e) || e.Class != schemas.NotFound {
		return err
	}
	invalid := *e
	invalid.Class = schemas.Invalid
	return &invalid
}

// internalError makes an error about our own data our fault, so that what is wrong there
// is not put down to the client.
func internalError(err error) error {
	if e := schemas.AsError(err); e.Class == schemas.NotFound || e.Class == schemas.Invalid {
		return errors.New(err.Error())
	}
	return err
}

// recoverPanic turns a panic into a 500. When the reply has begun it is too late for
// that, and the connection breaks off: half a reply must not look whole.
func (s *server) recoverPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			err := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			if exchangeOf(r).status == 0 {
				s.fail(w, r, err)
				return
			}
			s.Log.ErrorContext(r.Context(), "request failed", slog.String("route", exchangeOf(r).route), slog.String("traceId", exchangeOf(r).traceID), slog.Any("error", err))
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}
