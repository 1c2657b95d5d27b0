package flowtest

import (
	"cmp"
	"context"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// consentKey identifies the consent of a user for an application.
type consentKey struct{ userID, applicationID string }

// Consent returns the user's consent for an application, nil if there is none.
func (m *Memory) Consent(_ context.Context, userID, applicationID string) (*schemas.Consent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.consents[consentKey{userID, applicationID}]; ok {
		return &c, nil
	}
	return nil, nil
}

// ScopeNames displays each permission by its own name.
func (m *Memory) ScopeNames(_ context.Context, scopes []string) (map[string]string, error) {
	words := map[string]string{}
	for _, scope := range scopes {
		words[scope] = cmp.Or(schemas.PlainScopes()[scope], scope)
	}
	return words, nil
}

// consent adds scopes to the user's consent for an application.
func (m *Memory) consent(g schemas.GrantConsent) {
	key := consentKey{g.UserID, g.ApplicationID}
	c := m.consents[key]
	c.UserID, c.ApplicationID, c.GrantedAt, c.AskAgainAt = g.UserID, g.ApplicationID, g.At, nil
	if !g.AskAgainAt.IsZero() {
		c.AskAgainAt = &g.AskAgainAt
	}
	c.Scopes = slices.DeleteFunc(slices.Clone(c.Scopes), func(s schemas.ConsentedScope) bool { return slices.Contains(g.Scopes, s.Scope) })
	for _, scope := range g.Scopes {
		c.Scopes = append(c.Scopes, schemas.ConsentedScope{Scope: scope, GrantedAt: g.At, AskAgainAt: c.AskAgainAt})
	}
	m.consents[key] = c
}
