package server

import (
	"errors"
	"net/http"
	"strings"

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
		{"POST", oauth.TokenPath, nothing, s.limited(throttle.Token, open(p.Token)), clientOrigins},
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
		{"GET", oauth.UserInfoPath, nothing, open(p.UserInfo), clientOrigins},
		{"POST", oauth.UserInfoPath, nothing, open(p.UserInfo), clientOrigins},
		{"POST", oauth.IntrospectPath, nothing, s.limited(throttle.Token, open(p.Introspect)), noOrigins},
		{"POST", oauth.RevokePath, nothing, s.limited(throttle.Token, open(p.Revoke)), clientOrigins},
		{"GET", oauth.OpenIDPath, nothing, open(p.Server), publicOrigins},
	}
}

// speaksOAuth reports whether the errors of a route have the form of RFC 6749 §5.2.
func speaksOAuth(route string) bool {
	return strings.HasPrefix(route, "/oauth2/") || route == oauth.LogoutAlias
}

// failOAuth is fail for those routes.
func (s *server) failOAuth(w http.ResponseWriter, r *http.Request, err error) {
	reported, worded := errors.AsType[*oauth.Error](err)
	if !worded {
		status, e := s.readCeremony(r, err)
		s.logFailure(r, status, err)
		setFailureFields(w.Header(), err, e)
		reported = oauth.Explain(status, e.Description.DefaultValue)
		if challenge := challengeFor(r, status, err, e); challenge != "" {
			w.Header().Set("WWW-Authenticate", challenge)
		}
	}
	exchangeOf(r).code = reported.Code
	h := w.Header()
	hardenReply(h)
	if reported.Challenge {
		h.Set("WWW-Authenticate", `Basic realm="postern", charset="UTF-8"`) // RFC 7617 §2.1
	}
	if reported.Bearer {
		h.Set("WWW-Authenticate", bearerChallenge(reported))
	}
	mustWriteJSON(w, reported.Status, reported)
}

// bearerChallenge asks for a token. A request without one learns of no error: RFC 6750 §3.1.
func bearerChallenge(reported *oauth.Error) string {
	challenge := `Bearer realm="postern"`
	if reported.Code == "invalid_request" {
		return challenge
	}
	challenge += `, error="` + reported.Code + `", error_description=` + quotedString(reported.Description)
	if reported.Status == http.StatusForbidden {
		challenge += `, scope="openid"`
	}
	return challenge
}
