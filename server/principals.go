package server

import (
	"context"
	"net/http"
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
// role to callers who may read it, and without content to others.
func principal(of directory.Resource, change principalChange) handler {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		vars := mux.Vars(r)
		item, err := change(r.Context(), c.Call, vars["id"], schemas.Principal{Type: schemas.PrincipalType(vars["type"]), ID: vars["principalId"]})
		return writeReadable(w, r, c, of.Noun(), item, err)
	}
}

// principalPage returns a page of the principals of the resource with the id.
type principalPage func(ctx context.Context, c directory.Call, id string, q directory.Query) (*directory.Page, error)

// principals handles GET /groups/{id}/members and GET /roles/{id}/assignments: a page of the list,
// sorted by type and id. The cursor "after" is "<type>/<id>" of the last principal of the page
// before, so principals that are added or removed between two pages neither repeat nor hide others.
func (s *server) principals(read principalPage, plural string) handler {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		q, err := principalQuery(r)
		if err != nil {
			return err
		}
		return s.writeList(w, r.URL.Path, plural, q, func(q directory.Query) (*directory.Page, error) {
			return read(r.Context(), c.Call, pathID(r), q)
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
