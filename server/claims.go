package server

import (
	"net/http"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// claimsOf handles GET /applications/{id}/claims?user&scope: what the application learns about a user, and why.
func (s *server) claimsOf(w http.ResponseWriter, r *http.Request, c *caller) error {
	query := r.URL.Query()
	if query.Get("user") == "" {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "expected the parameter user: the id of a user")
	}
	var scopes []string
	if query.Has("scope") {
		scopes = append([]string{}, strings.Fields(query.Get("scope"))...)
	}
	report, err := s.Directory.ClaimsOf(r.Context(), c.Call, pathID(r), query.Get("user"), scopes)
	return writeResult(w, report, err)
}
