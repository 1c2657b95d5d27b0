package server

import (
	"cmp"
	"context"
	"net/http"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// need is what a request to an endpoint must contain: a token with a permission, which is its name
// ("system:users:read"), or one of the constants below. The zero value is invalid, so that no
// endpoint is open by omission.
type need string

const (
	nothing   need = "nothing"                     // no token
	anyToken  need = "the user's token, or system" // the handler decides what the token may do
	userToken need = "a user's token"              // a token of the user it concerns
	toolToken need = "a token for the tools"
	// The handlers of OAuth check these themselves.
	clientAuth  need = "client authentication"
	openidToken need = "an access token with the scope openid"
	claimsToken need = "the access token of a distributed claim"
)

// isOpen reports whether the handler is reached without a check.
func (n need) isOpen() bool {
	return n == nothing || n == clientAuth || n == openidToken || n == claimsToken
}

// caller is the sender of a request.
type caller struct {
	directory.Call
	// delegated reports that an OAuth client acts for a user with an access token, and not the user
	// with the assertion of a sign-in.
	delegated bool
}

// userID returns the acting user; "" for an application or the program itself.
func (c *caller) userID() string {
	if c.Actor.Type != schemas.UserActor {
		return ""
	}
	return c.Actor.ID
}

// admit checks that a request has what the endpoint needs. No other function does. The caller is
// nil if nothing is needed.
func (s *server) admit(r *http.Request, needs need) (*caller, error) {
	if needs.isOpen() {
		return nil, nil
	}
	c, err := s.caller(r, needs)
	if err != nil {
		return nil, err
	}
	if !c.satisfies(needs) {
		return nil, insufficientToken(needs, c.delegated)
	}
	c.Needs = needs.permission()
	return c, nil
}

// permission returns the permission of a need; "" for none.
func (n need) permission() string {
	switch n {
	case nothing, anyToken, userToken, clientAuth, openidToken, claimsToken:
		return ""
	case toolToken:
		return "system"
	}
	return string(n)
}

// satisfies reports whether the caller has what an endpoint needs. A client that a user signed in
// to must not be able to add a passkey to the user's account.
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

// caller returns the sender of a request from its bearer token. In open mode (see Options.Open) a
// request without a token is the program's own if it comes from a program on this machine. The MCP
// tools are never open. On the hosted pages the sender is the user of the browser's session.
func (s *server) caller(r *http.Request, needs need) (*caller, error) {
	if r.Header.Get(sessionField) != "" && (needs == userToken || needs == anyToken) {
		c, err := s.sessionCaller(r)
		if err == nil {
			exchangeOf(r).caller, exchangeOf(r).needs = c, needs
		}
		return c, err
	}
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
		Actor: actor(claims), Permissions: claims.Scope, Methods: claims.AMR, ACR: claims.ACR, AuthTime: claims.AuthTime, Session: claims.Session,
		TraceID: exchangeOf(r).traceID,
	}}
	if origin := schemas.OriginOf(r.Context()); origin != nil {
		origin.SessionID = claims.Session
	}
	exchangeOf(r).caller, exchangeOf(r).needs = c, needs
	c.delegated = claims.Type == token.AccessType && c.Actor.Type == schemas.UserActor
	return c, nil
}

// isLocal reports whether a request to a loopback address comes from a local program, as far as
// that is detectable. A web page whose name resolves to this machine has that name in Host, and
// sends an Origin for changes; a proxied request can come from anywhere, and usually has a
// forwarding header.
func isLocal(r *http.Request) bool {
	for _, field := range []string{"Origin", "Sec-Fetch-Site", "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"} {
		if len(r.Header.Values(field)) > 0 {
			return false
		}
	}
	return isLoopbackName(hostname(r.Host))
}

// actor returns the actor of a token: the client itself if it is the subject (RFC 9068 §2.2),
// otherwise a user.
func actor(claims *token.Claims) schemas.Actor {
	a := schemas.Actor{Type: schemas.UserActor, ID: claims.Subject, Client: cmp.Or(claims.ClientID, claims.Application)}
	if claims.ClientID != "" && claims.ClientID == claims.Subject {
		a.Type = schemas.ApplicationActor
	}
	return a
}

// authenticate returns the claims of the bearer token of a request (RFC 6750 §2.1). It never takes
// a token from the query or the body, which end up in logs and histories. The MCP tools are an
// audience of their own, so that a token for them is not accepted elsewhere.
func (s *server) authenticate(r *http.Request, needs need) (*token.Claims, error) {
	raw, sent := oauth.BearerToken(r)
	if !sent {
		return nil, schemas.Errorf(schemas.Unauthenticated, codeUnauthorized, "%s", s.wantedToken(exchangeOf(r).route))
	}
	if raw == "" {
		return nil, schemas.Errorf(schemas.Unauthenticated, codeInvalidToken,
			"expected one header Authorization: Bearer <token>")
	}
	audience := s.PublicURL
	if needs == toolToken {
		audience += oauth.ToolsPath
	}
	return s.Tokens.Verify(r.Context(), raw, audience)
}

// wantedToken returns the error of a missing token. A client that wants to register while
// registration is closed learns the alternatives.
func (s *server) wantedToken(route string) string {
	if route == oauth.RegisterPath {
		return s.OAuth.ClosedRegistration()
	}
	return "a token is required: send it as Authorization: Bearer <token>"
}

// insufficientToken is the error of a valid token without the needed scope or sign-in.
func insufficientToken(needs need, delegated bool) error {
	lacked := &refusal{scope: needs.permission()}
	text := "this token does not have the permission %q, or one that includes it; send a token that does. A user's token has the permissions of the user's roles"
	switch {
	case delegated && (needs == userToken || needs == anyToken):
		lacked.scope = schemas.AccountScope
		text = "a client may manage a user's account only with the scope %q, which this token does not have; register the client with this scope and request it, or send the assertion of a sign-in"
	case needs == toolToken:
		text = "the tools require the scope %q, which this token does not have; register the client with this scope and request it. A user's token has the permissions of the user's roles"
	case needs == userToken:
		lacked.err = schemas.Errorf(schemas.Forbidden, codeForbidden, "this endpoint requires a token of a user, but this token has no user; sign in as a user and send the token of that sign-in")
		return lacked
	}
	lacked.err = schemas.Errorf(schemas.Forbidden, codeForbidden, text, lacked.scope)
	return lacked
}

// mayRegister checks that the caller is the user and can manage the account with this token, or may
// act for any user: guard is the Directory's rule for that. Otherwise every user could add a
// passkey to every other account.
func (s *server) mayRegister(ctx context.Context, c *caller, userID string, guard func(context.Context, directory.Call, string) error) error {
	if c.userID() != userID && !c.Permits("system") {
		return schemas.Errorf(schemas.Forbidden, codeForbidden,
			"this token belongs to another user; send a token of the user that the passkey is for, or one with the permission \"system\"")
	}
	if s.Directory == nil { // then no user has permissions
		return nil
	}
	return requestFault(guard(ctx, c.Call, userID))
}
