package server

import (
	"net/http"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/server/oauth"
)

// oauthEndpoints returns the endpoints of the authorization server. Browsers call them from the
// pages of applications. Pages of untrusted clients reach only those that use no cookies: there,
// only a code or a token counts.
func (s *server) oauthEndpoints() []endpoint {
	p := s.OAuth
	if p == nil {
		return nil
	}
	authorize := s.limited(throttle.RunStart, open(p.Authorize))
	return []endpoint{
		{"POST", oauth.TokenPath, clientAuth, s.limited(throttle.Token, open(p.Token)), clientOrigins},
		{"GET", oauth.KeysPath, nothing, open(p.Keys), publicOrigins},
		{"GET", oauth.ServerPath, nothing, open(p.Server), publicOrigins},
		{"GET", oauth.ResourcePath, nothing, open(p.Resource), publicOrigins},
		{"GET", oauth.ResourcePath + oauth.ToolsPath, nothing, open(p.Resource), publicOrigins},
		s.registrationEndpoint(),
		{"GET", oauth.AuthorizePath, nothing, authorize, noOrigins},
		{"POST", oauth.AuthorizePath, nothing, authorize, noOrigins},
		{"GET", oauth.CallbackPath, nothing, s.located(open(p.Callback)), applicationOrigins},
		{"POST", oauth.CallbackPath, nothing, s.limited(throttle.SignIn, open(p.CallbackBy)), applicationOrigins},
		{"GET", oauth.LogoutPath, nothing, open(p.Logout), noOrigins},
		{"POST", oauth.LogoutPath, nothing, open(p.Logout), noOrigins},
		{"GET", oauth.LogoutAlias, nothing, open(p.Logout), noOrigins},
		{"POST", oauth.LogoutAlias, nothing, open(p.Logout), noOrigins},
		{"GET", oauth.UserInfoPath, openidToken, open(p.UserInfo), clientOrigins},
		{"POST", oauth.UserInfoPath, openidToken, open(p.UserInfo), clientOrigins},
		{"GET", oauth.ClaimsPath + "/{document}", claimsToken, open(p.DistributedClaims), clientOrigins},
		{"POST", oauth.IntrospectPath, clientAuth, s.limited(throttle.Token, open(p.Introspect)), noOrigins},
		{"POST", oauth.RevokePath, clientAuth, s.limited(throttle.Token, open(p.Revoke)), clientOrigins},
		{"GET", oauth.OpenIDPath, nothing, open(p.Server), publicOrigins},
	}
}

// registerClients is the permission to register clients: that of creating applications.
const registerClients need = "system:applications:write"

// registrationEndpoint handles POST /oauth2/dcr/register. With open registration a request without
// a token is anonymous and limited; one with a token must have a valid one.
func (s *server) registrationEndpoint() endpoint {
	register := s.limited(throttle.Register, func(w http.ResponseWriter, r *http.Request, _ *caller) error {
		return s.OAuth.Register(w, r, nil)
	})
	e := endpoint{"POST", oauth.RegisterPath, registerClients, s.registerFor, configuredOrigins}
	if !s.OAuth.OpenRegistration {
		return e
	}
	e.needs = nothing
	e.handle = func(w http.ResponseWriter, r *http.Request, _ *caller) error {
		if len(r.Header.Values("Authorization")) == 0 {
			return register(w, r, nil)
		}
		c, err := s.admit(r, registerClients)
		if err != nil {
			return err
		}
		return s.registerFor(w, r, c)
	}
	return e
}

// registerFor registers a client for the caller of a token.
func (s *server) registerFor(w http.ResponseWriter, r *http.Request, c *caller) error {
	return s.OAuth.Register(w, r, &c.Call)
}
