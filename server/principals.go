package server

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// principalChange adds or removes a principal of the resource with the id, and returns the changed
// resource.
type principalChange func(ctx context.Context, c directory.Call, id string, p schemas.Principal) (*directory.Item, error)

// principal handles PUT and DELETE of /groups/{id}/members/{type}/{memberId} and
// /roles/{id}/assignments/{type}/{principalId}. Both are idempotent and reply with the group or
// role.
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

// principals handles GET /groups/{id}/members and GET /roles/{id}/assignments: a page of the list,
// sorted by type and id. The cursor "after" is "<type>/<id>" of the last principal of the page
// before, so principals that are added or removed between two pages neither repeat nor hide others.
func (s *server) principals(of directory.Resource, plural string) handler {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		q, err := principalQuery(r)
		if err != nil {
			return err
		}
		item, err := of.Get(r.Context(), c.Call, mux.Vars(r)["id"])
		if err != nil {
			return err
		}
		all := principalsIn(item)
		from := min(q.Offset, len(all))
		if q.After != "" {
			from = firstAfter(all, q.After)
		}
		page := all[from:min(from+q.Limit, len(all))]
		values, last := make([]any, len(page)), ""
		for i, p := range page {
			values[i], last = p, string(p.Type)+"/"+p.ID
		}
		return writeJSON(w, http.StatusOK, listing{
			total: len(all), start: q.Offset + 1, plural: plural, items: values,
			links: s.links(r.URL.Path, q, len(page), last, from+len(page) < len(all)),
		})
	}
}

// principalQuery reads which part of a list of principals is requested.
func principalQuery(r *http.Request) (directory.Query, error) {
	q := readQuery(r.URL.Query(), "limit", "offset", "after")
	page := directory.Query{Limit: q.limit(), Offset: q.offset(), After: q.text("after")}
	if page.After != "" && !strings.Contains(page.After, "/") {
		q.addProblem("after", "expected <type>/<id>, as in the next link of a page, got %.64q", page.After)
	}
	return page, q.err()
}

// principalsIn returns the members of a group or the assignments of a role.
func principalsIn(item *directory.Item) []schemas.Principal {
	if g, ok := item.Value.(*schemas.Group); ok {
		return g.Members
	}
	return item.Value.(*schemas.Role).Assignments
}

// firstAfter returns the index of the first principal after a cursor. The principal of
// the cursor may have been removed.
func firstAfter(list []schemas.Principal, cursor string) int {
	kind, id, _ := strings.Cut(cursor, "/")
	i, found := slices.BinarySearchFunc(list, schemas.Principal{Type: schemas.PrincipalType(kind), ID: id}, schemas.Principal.Compare)
	if found {
		i++
	}
	return i
}
