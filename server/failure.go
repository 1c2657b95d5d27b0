package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// Error codes of this package.
const (
	codeUnauthorized     = "unauthorized" // no token; what is wrong with one is invalid_token
	codeInvalidToken     = "invalid_token"
	codeForbidden        = "forbidden"
	codeMethodNotAllowed = "method_not_allowed"
	codeTooLarge         = "payload_too_large"
	codeOriginNotAllowed = "origin_not_allowed"
	codeCanceled         = "request_cancelled"
)

// fail replies to a request with an error. No other function does. The endpoints of the
// authorization server have the form of RFC 6749 §5.2.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	x, h := exchangeOf(r), w.Header()
	maps.Copy(h, hardenedFields())
	reported, worded := errors.AsType[*oauth.Error](err)
	if !worded {
		status, e := publicError(r, err)
		s.logFailure(r, status, err)
		s.recordForbidden(r, status, e)
		setFailureFields(h, err, e)
		setChallenge(h, s.challenge(r, status, err, e))
		if opensInBrowser(x.route) && isBrowser(r) {
			x.code = e.Code
			s.writeDirections(w, r, status)
			return
		}
		if !speaksOAuth(x.route) {
			x.code, e.TraceID = e.Code, x.traceID
			mustWriteJSON(w, status, e)
			return
		}
		reported = oauth.Explain(status, e.Description.DefaultValue)
	}
	x.code = reported.Code
	setChallenge(h, reported.Authenticate)
	mustWriteJSON(w, reported.Status, reported)
}

// opensInBrowser reports whether applications send browsers to a route.
func opensInBrowser(route string) bool {
	return slices.Contains([]string{oauth.AuthorizePath, oauth.CallbackPath, oauth.LogoutPath, oauth.LogoutAlias}, route)
}

// speaksOAuth reports whether the errors of a route have the form of RFC 6749 §5.2.
func speaksOAuth(route string) bool {
	return strings.HasPrefix(route, "/oauth2/") || route == oauth.LogoutAlias
}

func setChallenge(h http.Header, challenge string) {
	if challenge != "" {
		h.Set("WWW-Authenticate", challenge)
	}
}

// logFailure logs server faults, which clients do not see.
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

// setFailureFields sets the header fields of an error reply.
func setFailureFields(h http.Header, err error, e *schemas.Error) {
	if e.RetryAfter > 0 {
		seconds := (e.RetryAfter + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	if refused, ok := errors.AsType[*refusal](err); ok && refused.allow != "" {
		h.Set("Allow", refused.allow)
	}
}

// mustWriteJSON writes an error. If that fails, it breaks off the connection.
func mustWriteJSON(w http.ResponseWriter, status int, v any) {
	if err := writeJSON(w, status, v); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// publicError returns the status of an error and a copy for the client.
func publicError(r *http.Request, err error) (int, *schemas.Error) {
	e := *schemas.AsError(err)
	if e.Class == schemas.Internal && r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		e = *schemas.Errorf(schemas.Unavailable, codeCanceled, "the request was canceled before it was answered")
	}
	if e.Class == schemas.Internal {
		e = *schemas.AsError(errors.New("")) // its text is not for the client
	}
	if refused, ok := errors.AsType[*refusal](err); ok && refused.status != 0 {
		return refused.status, &e
	}
	return statusOf(e.Class), &e
}

// statusOf maps error classes to HTTP statuses.
func statusOf(c schemas.Class) int {
	return cmp.Or(map[schemas.Class]int{
		schemas.Invalid:         http.StatusBadRequest,
		schemas.Unauthenticated: http.StatusUnauthorized,
		schemas.Forbidden:       http.StatusForbidden,
		schemas.NotFound:        http.StatusNotFound,
		schemas.Conflict:        http.StatusConflict,
		schemas.Precondition:    http.StatusPreconditionFailed,
		schemas.TooLarge:        http.StatusRequestEntityTooLarge,
		schemas.Throttled:       http.StatusTooManyRequests,
		schemas.Unavailable:     http.StatusServiceUnavailable,
	}[c], http.StatusInternalServerError)
}

// challenge returns the WWW-Authenticate field of RFC 6750 §3; "" for none. A request without a
// token learns only that one is required (§3.1). A request without the needed scope learns that
// scope if there is one; if a rule forbids the request, it is the broadest one.
func (s *server) challenge(r *http.Request, status int, err error, e *schemas.Error) string {
	if exchangeOf(r).route == oauth.ToolsPath {
		return s.toolChallenge(r, status, e)
	}
	sent := r.Header.Get("Authorization") != ""
	proof, isUnproved := errors.AsType[*schemas.ProofRequired](err)
	switch {
	case isUnproved: // RFC 9470 §3
		class := ""
		if proof.ACR != "" {
			class = fmt.Sprintf(", acr_values=%q", proof.ACR)
		}
		return fmt.Sprintf(`Bearer realm="postern", error=%q%s, max_age=%d, error_description=%s`,
			schemas.CodeStaleProof, class, int(proof.MaxAge.Seconds()), quotedString(e.Description.DefaultValue))
	case status == http.StatusUnauthorized && sent:
		return `Bearer realm="postern", error="invalid_token", error_description=` + quotedString(e.Description.DefaultValue)
	case status == http.StatusUnauthorized:
		return `Bearer realm="postern"`
	case status == http.StatusForbidden && sent:
		return `Bearer realm="postern", error="insufficient_scope"` + wantedScope(err)
	}
	return ""
}

// wantedScope returns the scope that the token of a request lacks.
func wantedScope(err error) string {
	lacked := "system"
	if refused, ok := errors.AsType[*refusal](err); ok {
		lacked = refused.scope
	}
	if schemas.HasCode(err, directory.CodeInsufficientScope) {
		lacked = schemas.AccountScope
	}
	if lacked == "" {
		return ""
	}
	return ", scope=" + quotedString(lacked)
}

// quotedString writes an error_description: RFC 6750 §3.
func quotedString(text string) string { return `"` + oauth.Printable(text) + `"` }

// refusal is an error with properties of the reply that its class does not determine.
type refusal struct {
	err    *schemas.Error
	status int    // 0: that of the class
	allow  string // the Allow field, "" for none
	scope  string // that the token lacks, "" for none
}

// Error returns the message for the client.
func (e *refusal) Error() string { return e.err.Error() }

// Unwrap returns the error for the client.
func (e *refusal) Unwrap() error { return e.err }

// wrongMethod is the error of a method that the path does not have.
func wrongMethod(method, path, allow string) error {
	return &refusal{status: http.StatusMethodNotAllowed, allow: allow,
		err: schemas.Errorf(schemas.Invalid, codeMethodNotAllowed, "%s does not support the method %.16s; send %s", path, method, allow)}
}

// notFound replies for unknown paths, and for the root. Browsers get the page of directions.
func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	switch isRoot := strings.Trim(r.URL.Path, "/") == "" && len(r.URL.Path) < 2; { // empty if a proxy has removed the base
	case isRoot && acceptsPage(r):
		s.writeDirections(w, r, http.StatusOK)
		return
	case isBrowser(r):
		s.writeDirections(w, r, http.StatusNotFound)
		return
	}
	s.fail(w, r, schemas.Errorf(schemas.NotFound, schemas.CodeNotFound, "the API has no endpoint %.200q%s", r.URL.Path, schemas.Hint(r.URL.Path, s.paths)))
}

// requestFault turns a missing resource that a body or query names into a fault of the request: 404
// is for paths.
func requestFault(err error) error {
	var e *schemas.Error
	if !errors.As(err, &e) || e.Class != schemas.NotFound {
		return err
	}
	invalid := *e
	invalid.Class = schemas.Invalid
	return &invalid
}

// recoverPanic turns a panic into a 500. After the reply has started it breaks off the connection
// instead: half a reply must not look complete.
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
			s.logFailure(r, http.StatusInternalServerError, err)
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}

// invalidBody returns the error of a request body with problems.
func invalidBody(problems ...schemas.Problem) error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the request body is invalid: %s", problems[0]).WithProblems(problems)
}

// missingMember returns the problem of a missing member.
func missingMember(path, about string) schemas.Problem {
	name := path[strings.LastIndexByte(path, '.')+1:]
	return schemas.Problem{Path: path, Message: fmt.Sprintf("required member %q is missing: %s", name, about)}
}

// checkChoice reports a value that is none of the known ones.
func checkChoice(path, value string, known ...string) []schemas.Problem {
	if slices.Contains(known, value) {
		return nil
	}
	message := fmt.Sprintf("expected %s, got %.64q%s", schemas.OneOf(known), value, schemas.Hint(value, known))
	return []schemas.Problem{{Path: path, Message: message}}
}
