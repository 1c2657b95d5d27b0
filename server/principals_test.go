package server_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Members of groups and assignments of roles are lists that clients read page by page,
// and change one principal at a time.
func TestPrincipalsArePagedLists(t *testing.T) {
	onBothStores(t, pagedPrincipals)
}

func pagedPrincipals(t *testing.T, h *testServer) {
	group := h.create("/groups", `{"name":"Paged"}`)
	role := h.create("/roles", `{"name":"Paged","permissions":["system:users:read"]}`)
	for path, plural := range map[string]string{"/groups/" + group + "/members": "members", "/roles/" + role + "/assignments": "assignments"} {
		var all []string
		for i := range 5 {
			all = append(all, "user/"+h.user(fmt.Sprintf("%s-%d", plural, i)))
		}
		all = append(all, "group/"+h.create("/groups", `{"name":"Part of `+plural+`"}`))
		slices.Sort(all)
		for _, p := range slices.Backward(all) {
			h.ok(200, "PUT "+path+"/"+p, "")
		}
		if got, _ := h.pages(path+"?limit=4", plural, nil); !slices.Equal(got, all) {
			t.Errorf("%s: %v, expected %v", path, got, all)
		}
		m, _ := h.ok(200, "GET "+path+"?limit=2&offset=3", "")
		if got := principalNames(m.list(plural)); !slices.Equal(got, all[3:5]) || m.number("totalResults") != 6 || m.number("startIndex") != 4 {
			t.Errorf("%s from 3: %v", path, m)
		}
		// The last principal of the first page is removed before the second is read.
		got, pages := h.pages(path+"?limit=2", plural, func() { h.ok(200, "DELETE "+path+"/"+all[1], "") })
		if !slices.Equal(got, all) || pages != 3 {
			t.Errorf("%s, changed meanwhile: %d pages, %v, expected %v", path, pages, got, all)
		}
		if got, _ := h.pages(path, plural, nil); !slices.Equal(got, slices.Delete(all, 1, 2)) {
			t.Errorf("%s after the removal: %v", path, got)
		}
		fails(t, h.do("GET", path+"?after=nothing", "", h.admin), 400, "invalid_request")
		fails(t, h.do("GET", path, "", h.bearer(h.user("nosy-"+plural), "system:users:read")), 403, "forbidden")
	}
	fails(t, h.do("GET", "/groups/nope/members", "", h.admin), 404, "group_not_found")
	fails(t, h.do("GET", "/roles/nope/assignments", "", h.admin), 404, "role_not_found")
}

// pages follows the next links of a list of principals to its end, and calls between, if
// it is not nil, after the first page.
func (h *testServer) pages(path, plural string, between func()) (names []string, pages int) {
	h.t.Helper()
	for path != "" {
		m, _ := h.ok(200, "GET "+path, "")
		names = append(names, principalNames(m.list(plural))...)
		path = ""
		for _, l := range m.list("links") {
			if l.text("rel") == "next" {
				u, err := url.Parse(l.text("href"))
				if err != nil {
					h.t.Fatal(err)
				}
				path = strings.TrimPrefix(u.RequestURI(), h.base)
			}
		}
		if pages++; pages == 1 && between != nil {
			between()
		}
	}
	return names, pages
}

func principalNames(list []members) (names []string) {
	for _, p := range list {
		names = append(names, p.text("type")+"/"+p.text("id"))
	}
	return names
}

// The members of a large group are read page by page, each once and in their order.
func TestLargeGroupsAreReadInPages(t *testing.T) {
	n := 25_000
	if testing.Short() {
		n = 250
	}
	h := newTestServer(t)
	now := h.clock()
	group := schemas.Group{ID: schemas.NewID(), Name: "Large", OUID: h.unit, CreatedAt: now, UpdatedAt: now}
	err := h.db.Update(t.Context(), func(tx *store.Tx) error {
		for range n {
			u := schemas.User{ID: schemas.NewID(), Type: "Person", OUID: h.unit, CreatedAt: now, UpdatedAt: now}
			group.Members = append(group.Members, schemas.Principal{Type: schemas.UserPrincipal, ID: u.ID})
			if err := store.Users().Insert(tx, &u); err != nil {
				return err
			}
		}
		return store.Groups().Insert(tx, &group)
	})
	if err != nil {
		t.Fatal(err)
	}
	names, pages := h.pages("/groups/"+group.ID+"/members?limit=100", "members", nil)
	if len(names) != n || pages != n/100+min(n%100, 1) || !slices.IsSorted(names) {
		t.Errorf("%d members on %d pages, sorted: %t", len(names), pages, slices.IsSorted(names))
	}
	for _, id := range []string{"nope", "%00"} {
		fails(t, h.do("GET", "/groups/"+id+"/members", "", h.admin), 404, "group_not_found")
	}
}
