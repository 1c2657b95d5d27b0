package server

import (
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/internal/directory"
)

// consentResponse describes what a user lets a client have.
type consentResponse struct {
	ApplicationID string          `json:"applicationId"`
	Name          string          `json:"name"`
	URL           string          `json:"url,omitempty"`
	Unverified    bool            `json:"unverified"`
	Scopes        []scopeResponse `json:"scopes"`
	GrantedAt     time.Time       `json:"grantedAt"`
	AskAgainAt    *time.Time      `json:"askAgainAt,omitempty"`
}

// scopeResponse is a scope with its display name.
type scopeResponse struct {
	Scope     string    `json:"scope"`
	Text      string    `json:"text"`
	GrantedAt time.Time `json:"grantedAt"`
}

// consents handles GET /users/me/consents and GET /users/{id}/consents.
func (s *server) consents(w http.ResponseWriter, r *http.Request, c *caller) error {
	found, err := s.Directory.Consents(r.Context(), c.Call, userOf(r, c))
	if err != nil {
		return err
	}
	list := make([]any, len(found))
	for i := range found {
		if list[i], err = s.newConsentResponse(r, &found[i]); err != nil {
			return err
		}
	}
	page, err := s.pageOf(r, "consents", list)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, page)
}

func (s *server) newConsentResponse(r *http.Request, c *directory.Consented) (*consentResponse, error) {
	app := c.Application
	shown := &consentResponse{
		ApplicationID: app.ID, Name: app.Name, URL: app.URL, Unverified: !app.IsTrusted(),
		GrantedAt: c.GrantedAt, AskAgainAt: c.AskAgainAt, Scopes: make([]scopeResponse, len(c.Scopes)),
	}
	scopes := make([]string, len(c.Scopes))
	for i, scope := range c.Scopes {
		scopes[i] = scope.Scope
	}
	words, err := s.Directory.ScopeNames(r.Context(), scopes)
	if err != nil {
		return nil, err
	}
	for i, scope := range c.Scopes {
		shown.Scopes[i] = scopeResponse{scope.Scope, words[scope.Scope], scope.GrantedAt}
	}
	return shown, nil
}

// revokeConsent handles DELETE …/consents/{applicationId}: it revokes all tokens that the client
// has for the user.
func (s *server) revokeConsent(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := s.Directory.RevokeConsent(r.Context(), c.Call, userOf(r, c), mux.Vars(r)["applicationId"]); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
