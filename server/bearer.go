package server

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// need is what a request to an endpoint must bring: a token with a permission,
// which is its name ("system:users:read"), or one of the words below. The zero
// value is none of them, so that nothing is open because it was forgotten.
type need string

const (
	nothing   need = "nothing"        // anybody may call it
	anyToken  need = "any token"      // what it may do, the handler decides
	userToken need = "a user's token" // that of the user whom it is about
	toolToken need = "a token for the tools"
)

// caller is who sent a request.
type caller struct {
	directory.Call
	// delegated says that an OAuth client acts for a user with an access token, and
	// not the user with the assertion of a sign-in.
	delegated bool
}

// userID is the user who acts; "" if it is an application or the program itself.
func (c *caller) userID() string {
	if c.Actor.Type != schemas.UserActor {
		return ""
	}
	return c.Actor.ID
}

// admit makes sure that a request brings what the endpoint needs. It is the one
// place that does. The caller is nil where nothing is needed.
func (s *server) admit(r *http.Request, needs need) (*caller, error) {
	if needs == nothing {
		return nil, nil
	}
	c, err := s.caller(r, needs)
	if err != nil {
		return nil, err
	}
	if !c.satisfies(needs) {
		return nil, &insufficientToken{needs, c.delegated}
	}
	c.Needs = needs.permission()
	return c, nil
}

// permission is the one that a need is; "" for none.
func (n need) permission() string {
	switch n {
	case nothing, anyToken, userToken:
		return ""
	case toolToken:
		return "system"
	}
	return string(n)
}

// satisfies reports whether the caller has what an endpoint needs. Whom a user has
// let know who they are must not be able to add a passkey to their account.
func (c *caller) satisfies(needs need) bool {
	own := !c.delegated || c.Permits(schemas.AccountScope) || c.Permits("system")
	switch needs {
	case anyToken:
		return own
	case userToken:
		return own && c.userID() != ""
	}
	return c.Permits(needs.permission())
}

// caller tells who sent the request, by its bearer token. While the server
// stands open (see Options.Open) a request without one is the program's own, if
// it comes from a program on this machine. The tools never stand open.
func (s *server) caller(r *http.Request, needs need) (*caller, error) {
	unsigned := len(r.Header.Values("Authorization")) == 0 && isLocal(r) && needs != toolToken
	if unsigned && s.Open != nil && s.Open(r.Context()) {
		c := &caller{Call: directory.SystemCall()}
		c.TraceID = exchangeOf(r).traceID
		return c, nil
	}
	claims, err := s.authenticate(r, needs)
	if err != nil {
		return nil, err
	}
	ref := claims.Ref()
	c := &caller{Call: directory.Call{
		Token: &ref,
		Actor: actor(claims), Permissions: claims.Scope, Methods: claims.AMR, AuthTime: claims.AuthTime, Session: claims.Session,
		TraceID: exchangeOf(r).traceID,
	}}
	c.delegated = claims.Type == token.AccessType && c.Actor.Type == schemas.UserActor
	return c, nil
}

// isLocal reports whether a request to a loopback address is of a program that
// was told so, as far as it can be told. A page that has made its own name lead
// here has that name in Host, and with what it changes an Origin; and what came
// through a proxy may be from anywhere, and mostly says so.
func isLocal(r *http.Request) bool {
	for _, field := range []string{"Origin", "Sec-Fetch-Site", "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"} {
		if len(r.Header.Values(field)) > 0 {
			return false
		}
	}
	return isLoopbackName(hostname(r.Host))
}

// actor is whom a token speaks for: the client itself if it is the subject
// (RFC 9068 §2.2), else a user.
func actor(claims *token.Claims) schemas.Actor {
	a := schemas.Actor{Type: schemas.UserActor, ID: claims.Subject, Client: cmp.Or(claims.ClientID, claims.Application)}
	if claims.ClientID != "" && claims.ClientID == claims.Subject {
		a.Type = schemas.ApplicationActor
	}
	return a
}

// authenticate returns what the bearer token of a request says (RFC 6750 §2.1).
// A token is never taken from the query or the body: there it ends up in logs
// and histories. The tools are an audience of their own, so that a token that
// somebody's program has for them is good for nothing else.
func (s *server) authenticate(r *http.Request, needs need) (*token.Claims, error) {
	fields := r.Header.Values("Authorization")
	if len(fields) == 0 {
		return nil, schemas.Errorf(schemas.Unauthenticated, codeUnauthorized, "%s", s.wantedToken(exchangeOf(r).route))
	}
	scheme, raw, _ := strings.Cut(fields[0], " ")
	if raw = strings.TrimSpace(raw); len(fields) > 1 || !strings.EqualFold(scheme, "Bearer") || raw == "" {
		return nil, schemas.Errorf(schemas.Unauthenticated, codeInvalidToken,
			"expected one header Authorization: Bearer <token>")
	}
	audience := s.PublicURL
	if needs == toolToken {
		audience += oauth.ToolsPath
	}
	return s.Tokens.Verify(r.Context(), raw, audience)
}

// wantedToken asks for a token. A client that wants to register where registration is
// closed learns the ways that need none.
func (s *server) wantedToken(route string) string {
	if route == oauth.RegisterPath {
		return s.OAuth.ClosedRegistration()
	}
	return "a token is required: send it as Authorization: Bearer <token>"
}

// insufficientToken is the error of a token that is good, but not what is needed.
type insufficientToken struct {
	needs     need
	delegated bool // to a client
}

// account reports whether it is the scope for the user's account that is lacking.
func (e *insufficientToken) account() bool {
	return e.delegated && (e.needs == userToken || e.needs == anyToken)
}

// Error says what the client is told.
func (e *insufficientToken) Error() string { return e.Unwrap().Error() }

// Unwrap returns what the client is told.
func (e *insufficientToken) Unwrap() error {
	switch {
	case e.account():
		return schemas.Errorf(schemas.Forbidden, codeForbidden,
			"this is about the account of the user, and the client has not been given the scope %q: register it with that scope and ask for it, or send the assertion of a sign-in", schemas.AccountScope)
	case e.needs == toolToken:
		return schemas.Errorf(schemas.Forbidden, codeForbidden,
			"the tools take a token with the scope %q, which this one does not carry: ask for it, or have the client registered with it. A user's tokens carry what the user's roles grant", "system")
	case e.needs == userToken:
		return schemas.Errorf(schemas.Forbidden, codeForbidden,
			"this is about the user whom the token speaks for, and this token speaks for no user: sign in, and send that token")
	}
	return schemas.Errorf(schemas.Forbidden, codeForbidden,
		"this token does not carry the permission %q, nor one above it: send one that does. A user's tokens carry what the user's roles grant", string(e.needs))
}

// mayRegister makes sure that the caller is the user and may manage the account with
// this token, or may act for anybody: guard is the Directory's rule for that. Without it
// every user could add a passkey of their own to every other account.
func (s *server) mayRegister(ctx context.Context, c *caller, userID string, guard func(context.Context, directory.Call, string) error) error {
	if c.userID() != userID && !c.Permits("system") {
		return schemas.Errorf(schemas.Forbidden, codeForbidden,
			"this token speaks for another user: passkeys are registered with a token of the user they are for, or with one that carries the permission \"system\"")
	}
	if s.Directory == nil { // then nobody has permissions
		return nil
	}
	return requestFault(guard(ctx, c.Call, userID))
}
