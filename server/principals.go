package server

import (
	"context"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// principalChange adds a principal to the resource with the id, or takes it
// away, and returns what the resource is then.
type principalChange func(ctx context.Context, c directory.Call, id string, p schemas.Principal) (*directory.Item, error)

// principal is PUT and DELETE of /groups/{id}/members/{type}/{memberId} and
// /roles/{id}/assignments/{type}/{principalId}. Both may be repeated, and answer
// with the group or role: whoever works on a large one need not send all of it.
func principal(change principalChange) handler {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		vars := mux.Vars(r)
		item, err := change(r.Context(), c.Call, vars["id"], schemas.Principal{Type: schemas.PrincipalType(vars["type"]), ID: vars["principalId"]})
		if err != nil {
			return err
		}
		return writeItem(w, r, http.StatusOK, item)
	}
}
