package server

import (
	"net/http"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/server/oauth"
)

// registerClients is the permission to register clients: that of creating applications.
const registerClients need = "system:applications:write"

// registrationEndpoint handles POST /oauth2/dcr/register. With open registration a request without a
// token is anonymous and limited; one with a token must have a valid one.
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
