package server

import (
	"context"
	"time"

	"github.com/postern-id/postern/internal/directory"
)

// consentResponse describes the consent of a user to a client.
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

// consents lists the consents of a user.
func (s *server) consents(ctx context.Context, c *caller, userID string) ([]any, error) {
	found, err := s.Directory.Consents(ctx, c.Call, userID)
	list := make([]any, len(found))
	for i := range found {
		if list[i], err = s.newConsentResponse(ctx, &found[i]); err != nil {
			return nil, err
		}
	}
	return list, err
}

func (s *server) newConsentResponse(ctx context.Context, c *directory.Consented) (*consentResponse, error) {
	app := c.Application
	shown := &consentResponse{
		ApplicationID: app.ID, Name: app.Name, URL: app.URL, Unverified: !app.IsTrusted(),
		GrantedAt: c.GrantedAt, AskAgainAt: c.AskAgainAt, Scopes: make([]scopeResponse, len(c.Scopes)),
	}
	scopes := make([]string, len(c.Scopes))
	for i, scope := range c.Scopes {
		scopes[i] = scope.Scope
	}
	words, err := s.Directory.ScopeNames(ctx, scopes)
	if err != nil {
		return nil, err
	}
	for i, scope := range c.Scopes {
		shown.Scopes[i] = scopeResponse{scope.Scope, words[scope.Scope], scope.GrantedAt}
	}
	return shown, nil
}
