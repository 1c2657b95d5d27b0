package server

import (
	"net/http"
	"time"

	"github.com/gorilla/mux"
)

// identityResponse describes a linked external identity.
type identityResponse struct {
	ID         string           `json:"id"`
	Provider   providerResponse `json:"provider"`
	Subject    string           `json:"subject"`
	Name       string           `json:"name,omitempty"`
	CreatedAt  time.Time        `json:"createdAt"`
	LastUsedAt *time.Time       `json:"lastUsedAt,omitempty"`
}

// providerResponse describes its provider.
type providerResponse struct {
	ID     string `json:"id"`
	Handle string `json:"handle"`
	Name   string `json:"name"`
}

// identities handles GET /users/me/identities and GET /users/{id}/identities.
func (s *server) identities(w http.ResponseWriter, r *http.Request, c *caller) error {
	found, err := s.Directory.Identities(r.Context(), c.Call, userOf(r, c))
	if err != nil {
		return err
	}
	list := make([]any, len(found))
	for i, one := range found {
		list[i] = identityResponse{
			one.ID, providerResponse{one.Provider.ID, one.Provider.Handle, one.Provider.Name}, one.Subject, one.Name, one.CreatedAt, one.LastUsedAt,
		}
	}
	page, err := s.pageOf(r, "identities", list)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, page)
}

// unlinkProvider handles DELETE /identity-providers/{id}/identities.
func (s *server) unlinkProvider(w http.ResponseWriter, r *http.Request, c *caller) error {
	n, err := s.Directory.UnlinkProvider(r.Context(), c.Call, pathID(r))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, unlinkedIdentities{n})
}

// unlinkedIdentities is the number of removed identities.
type unlinkedIdentities struct {
	Unlinked int `json:"unlinked"`
}

// deleteIdentity handles DELETE …/identities/{identityId}.
func (s *server) deleteIdentity(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := s.Directory.DeleteIdentity(r.Context(), c.Call, userOf(r, c), mux.Vars(r)["identityId"]); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
