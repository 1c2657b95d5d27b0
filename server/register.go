package server

import (
	"net/http"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/server/oauth"
)

// registerClients is the permission to register clients, which is that to make
// applications.
const registerClients need = "system:applications:write"

// registrationEndpoint is POST /oauth2/dcr/register. Where registration is open a
// request without a token is a stranger's, and limited; one with a token has to be
// good for it all the same.
func (s *server) registrationEndpoint() endpoint {
	register := s.limited(throttle.Register, func(w http.ResponseWriter, r *http.Request, _ *caller) error {
		return s.OAuth.Register(w, r, nil)
	})
	e := endpoint{"POST", oauth.RegisterPath, registerClients, s.registerFor, configuredOrigins}
	if !s.OAuth.Registration.Open {
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

// registerFor registers a client for who sent a token.
func (s *server) registerFor(w http.ResponseWriter, r *http.Request, c *caller) error {
	return s.OAuth.Register(w, r, &c.Call)
}
