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

// setPassword handles PUT /users/me/password. It replies with what the former password alone has added, or 204
// if there is nothing.
func (s *server) setPassword(w http.ResponseWriter, r *http.Request, c *caller) error {
	var body passwordBody
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	former, err := s.Directory.SetPassword(r.Context(), c.Call, *body.Password)
	if err != nil || len(former) == 0 {
		return writeNoContent(w, requestFault(err))
	}
	return writeJSON(w, http.StatusOK, formerResponse{former})
}

// removePassword handles DELETE /users/me/password.
func (s *server) removePassword(w http.ResponseWriter, r *http.Request, c *caller) error {
	return writeNoContent(w, s.Directory.RemovePassword(r.Context(), c.Call))
}
