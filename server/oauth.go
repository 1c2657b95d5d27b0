package server

import (
	"errors"
	"net/http"
	"strings"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/server/oauth"
)

// oauthEndpoints are those of the authorization server. Browsers call them from
// the pages of any application.
func (s *server) oauthEndpoints() []endpoint {
	p := s.OAuth
	if p == nil {
		return nil
	}
	return []endpoint{
		{"POST", oauth.TokenPath, nothing, s.limited(throttle.Token, open(p.Token)), applicationOrigins},
		{"GET", oauth.KeysPath, nothing, open(p.Keys), applicationOrigins},
		{"GET", oauth.ServerPath, nothing, open(p.Server), applicationOrigins},
		{"GET", oauth.ResourcePath, nothing, open(p.Resource), applicationOrigins},
		{"GET", oauth.ResourcePath + oauth.ToolsPath, nothing, open(p.Resource), applicationOrigins},
	}
}

// speaksOAuth reports whether errors of a route have the form of RFC 6749 §5.2.
func speaksOAuth(route string) bool { return strings.HasPrefix(route, "/oauth2/") }

// failOAuth is fail for those.
func (s *server) failOAuth(w http.ResponseWriter, r *http.Request, err error) {
	told, worded := errors.AsType[*oauth.Error](err)
	if !worded {
		status, e := s.judge(r, err)
		s.logFailure(r, status, err)
		setFailureFields(w.Header(), err, e)
		told = oauth.Explain(status, e.Description.DefaultValue)
	}
	exchangeOf(r).code = told.Code
	h := w.Header()
	hardenReply(h)
	if told.Challenge {
		h.Set("WWW-Authenticate", `Basic realm="postern", charset="UTF-8"`) // RFC 7617 §2.1
	}
	mustWriteJSON(w, told.Status, told)
}
