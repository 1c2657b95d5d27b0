package server

import (
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// profile handles GET …/profile.
func (s *server) profile(w http.ResponseWriter, r *http.Request, c *caller) error {
	p, err := s.Directory.Profile(r.Context(), c.Call, userOf(r, c))
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
