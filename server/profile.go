package server

import (
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// profile handles GET /users/me/profile.
func (s *server) profile(w http.ResponseWriter, r *http.Request, c *caller) error {
	p, err := s.Directory.Profile(r.Context(), c.Call)
	return writeResult(w, p, err)
}

// updateProfile handles PATCH /users/me/profile. The body is a JSON Merge Patch of the attributes.
func (s *server) updateProfile(w http.ResponseWriter, r *http.Request, c *caller) error {
	d, err := readDocument(w, r, smallBody, schemas.CodeInvalidRequest, jsonType, mergePatchType)
	if err == nil {
		err = s.Directory.UpdateProfile(r.Context(), c.Call, d)
	}
	if err != nil {
		return err
	}
	return s.profile(w, r, c)
}

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
