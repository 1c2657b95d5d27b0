package server

import (
	"context"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/schemas"
)

// ownersPlural names the list of owners of attributes.
const ownersPlural = "attributeOwners"

// ownerBody is the body of PUT /users/{id}/attribute-owners/{attribute}. ProviderID is the id or the handle of an
// identity provider, for the owner provider.
type ownerBody struct {
	Owner      string `json:"owner"`
	ProviderID string `json:"providerId,omitempty"`
}

func (b *ownerBody) check() []schemas.Problem {
	if b.Owner == "" {
		return []schemas.Problem{missingMember("owner", "provider, user, administrator or flow")}
	}
	return nil
}

// attributeOwners lists the owners of a user's attributes.
func (s *server) attributeOwners(ctx context.Context, c *caller, userID string) ([]any, error) {
	found, err := s.Directory.AttributeOwners(ctx, c.Call, userID)
	list := make([]any, len(found))
	for i, o := range found {
		list[i] = o
	}
	return list, err
}

// setAttributeOwner handles PUT /users/{id}/attribute-owners/{attribute}.
func (s *server) setAttributeOwner(w http.ResponseWriter, r *http.Request, c *caller) error {
	var body ownerBody
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	set, err := s.Directory.SetAttributeOwner(r.Context(), c.Call, pathID(r), schemas.AttributeOwner{
		Attribute: mux.Vars(r)["attribute"], Owner: body.Owner, ProviderID: body.ProviderID,
	})
	return writeResult(w, set, err)
}

// releaseAttribute handles DELETE /users/{id}/attribute-owners/{attribute}.
func (s *server) releaseAttribute(w http.ResponseWriter, r *http.Request, c *caller) error {
	return writeNoContent(w, s.Directory.ReleaseAttribute(r.Context(), c.Call, pathID(r), mux.Vars(r)["attribute"]))
}
