package server

import (
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// passwordBody is the body of PUT /users/me/password.
type passwordBody struct {
	Password *string `json:"password"`
}

func (b *passwordBody) check() []schemas.Problem {
	if b.Password == nil {
		return []schemas.Problem{missingMember("password", "the new password")}
	}
	return nil
}

// setPassword handles PUT /users/me/password.
func (s *server) setPassword(w http.ResponseWriter, r *http.Request, c *caller) error {
	var body passwordBody
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	return writeNoContent(w, requestFault(s.Directory.SetPassword(r.Context(), c.Call, *body.Password)))
}

// removePassword handles DELETE /users/me/password.
func (s *server) removePassword(w http.ResponseWriter, r *http.Request, c *caller) error {
	return writeNoContent(w, s.Directory.RemovePassword(r.Context(), c.Call))
}
