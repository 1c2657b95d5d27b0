package server

import (
	"context"
	"net/http"
	"time"
)

// identityResponse describes a linked external identity.
type identityResponse struct {
	ID         string           `json:"id"`
	Provider   providerResponse `json:"provider"`
	Subject    string           `json:"subject"`
	Name       string           `json:"name,omitempty"`
	CreatedAt  time.Time        `json:"createdAt"`
	LastUsedAt *time.Time       `json:"lastUsedAt,omitempty"`
	// FormerPassword states that the identity was linked with a password alone that was replaced since.
	FormerPassword bool `json:"formerPassword,omitempty"`
}

// providerResponse describes its provider.
type providerResponse struct {
	ID     string `json:"id"`
	Handle string `json:"handle"`
	Name   string `json:"name"`
}

// identities lists the linked external identities of a user.
func (s *server) identities(ctx context.Context, c *caller, userID string) ([]any, error) {
	found, err := s.Directory.Identities(ctx, c.Call, userID)
	list := make([]any, len(found))
	for i, one := range found {
		list[i] = identityResponse{
			one.ID, providerResponse{one.Provider.ID, one.Provider.Handle, one.Provider.Name}, one.Subject, one.Name, one.CreatedAt, one.LastUsedAt, one.AddedBy.IsFormer(),
		}
	}
	return list, err
}

// unlinkProvider handles DELETE /identity-providers/{id}/identities. It replies with the number of
// removed identities.
func (s *server) unlinkProvider(w http.ResponseWriter, r *http.Request, c *caller) error {
	n, err := s.Directory.UnlinkProvider(r.Context(), c.Call, pathID(r))
	return writeResult(w, map[string]int{"unlinked": n}, err)
}
