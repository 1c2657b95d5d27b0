package directory

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func group(id string) schemas.Principal {
	return schemas.Principal{Type: schemas.GroupPrincipal, ID: id}
}

func TestSingleMembers(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		before := len(h.events(t))
		first, err := h.AddMember(t.Context(), SystemCall(), h.ids["group"], h.other())
		must(t, err)
		again, err := h.AddMember(t.Context(), SystemCall(), h.ids["group"], h.other())
		must(t, err)
		if again.ETag != first.ETag {
			t.Error("who is a member already became one again")
		}
		want := []schemas.Principal{h.user(), h.other()}
		slices.SortFunc(want, schemas.Principal.Compare)
		if got := again.Value.(*schemas.Group).Members; !slices.Equal(got, want) {
			t.Errorf("got the members %v, expected %v", got, want)
		}
		for range 2 {
			item, err := h.RemoveMember(t.Context(), SystemCall(), h.ids["group"], h.user())
			must(t, err)
			if got := item.Value.(*schemas.Group).Members; !slices.Equal(got, []schemas.Principal{h.other()}) {
				t.Errorf("got the members %v, expected %v", got, h.other())
			}
		}
		if n := len(h.events(t)) - before; n != 2 {
			t.Errorf("%d events of two changes", n)
		}
		_, err = h.AddMember(t.Context(), SystemCall(), h.ids["group"], schemas.Principal{Type: schemas.UserPrincipal, ID: "nobody"})
		refused(t, err, schemas.CodeInvalidRequest, `id: there is no user with the id "nobody"`)
		_, err = h.AddMember(t.Context(), SystemCall(), h.ids["group"], schemas.Principal{Type: schemas.ApplicationPrincipal, ID: h.ids["application"]})
		refused(t, err, schemas.CodeInvalidRequest, `type: expected "user" or "group", got`)
		_, err = h.AddMember(t.Context(), SystemCall(), schemas.NewID(), h.user())
		refused(t, err, "group_not_found")
	})
}

func TestSingleAssignments(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		app := schemas.Principal{Type: schemas.ApplicationPrincipal, ID: h.ids["application"]}
		item, err := h.Assign(t.Context(), SystemCall(), h.ids["role"], app)
		must(t, err)
		want := []schemas.Principal{app, group(h.ids["group"])}
		if got := item.Value.(*schemas.Role).Assignments; !slices.Equal(got, want) {
			t.Errorf("got the assignments %v, expected %v", got, want)
		}
		granted, err := store.PermissionsOf(t.Context(), h.store, app)
		must(t, err)
		if !slices.Equal(granted, []string{writing}) {
			t.Errorf("the application has %q, expected %q", granted, writing)
		}
		item, err = h.Unassign(t.Context(), SystemCall(), h.ids["role"], app)
		must(t, err)
		if got := item.Value.(*schemas.Role).Assignments; !slices.Equal(got, want[1:]) {
			t.Errorf("got the assignments %v, expected %v", got, want[1:])
		}
		_, err = h.Assign(t.Context(), SystemCall(), h.ids["role"], group(schemas.NewID()))
		refused(t, err, schemas.CodeInvalidRequest, "id: there is no group")
	})
}

// A group cannot contain itself, directly or indirectly.
func TestGroupCyclesAreRefused(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		below := h.create(t, h.Groups, `{"name": "0"}`)
		lowest := below
		for i := range 5 {
			below = h.create(t, h.Groups, object(t, "name", fmt.Sprint(i+1), "members", []schemas.Principal{group(below)}))
		}
		_, err := h.AddMember(t.Context(), SystemCall(), lowest, group(below))
		refused(t, err, schemas.CodeInvalidRequest, "id: would contain itself")
		_, err = h.AddMember(t.Context(), SystemCall(), lowest, group(lowest))
		refused(t, err, schemas.CodeInvalidRequest, "id: would contain itself")
		_, err = h.Groups.Replace(t.Context(), SystemCall(), lowest, "", doc(t, object(t, "name", "0", "members", []schemas.Principal{h.user(), group(below)})))
		refused(t, err, schemas.CodeInvalidRequest, "members[1].id: would contain itself")
		// Two paths to one group are no cycle.
		_, err = h.AddMember(t.Context(), SystemCall(), below, group(lowest))
		must(t, err)
	})
}

// A few queries check ten thousand members, and only the first problems of ten thousand are
// reported.
func TestManyMembers(t *testing.T) {
	sequential(t)
	h := furnished(t, newFixture(t))
	var members []schemas.Principal
	for range 10000 {
		members = append(members, schemas.Principal{Type: schemas.UserPrincipal, ID: schemas.NewID()})
	}
	_, err := h.Groups.Create(t.Context(), SystemCall(), doc(t, object(t, "name", "Many", "members", members)))
	reported := schemas.AsError(err).Errors
	if len(reported) != maxProblems || !strings.HasSuffix(reported[maxProblems-1].Message, "(and 9950 more problems)") {
		t.Errorf("got %d problems, the last %v", len(reported), reported[len(reported)-1])
	}
	must(t, h.store.Update(t.Context(), func(tx *store.Tx) error {
		for _, m := range members {
			u := schemas.User{ID: m.ID, Type: "Person", OUID: h.unit, CreatedAt: h.now(), UpdatedAt: h.now()}
			if err := store.Users().Insert(tx, &u); err != nil {
				return err
			}
		}
		return nil
	}))
	item, err := h.Groups.Create(t.Context(), SystemCall(), doc(t, object(t, "name", "Many", "members", members)))
	must(t, err)
	_, err = h.AddMember(t.Context(), SystemCall(), item.ID, h.user())
	refused(t, err, schemas.CodeInvalidRequest, "members: expected at most 10000, got 10001")
	item, err = h.RemoveMember(t.Context(), SystemCall(), item.ID, members[17])
	must(t, err)
	if n := len(item.Value.(*schemas.Group).Members); n != 9999 {
		t.Errorf("%d members, expected 9999", n)
	}
}

// A deleted principal is removed from groups and roles, whose entity tags change.
func TestDeletedMembers(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		app := schemas.Principal{Type: schemas.ApplicationPrincipal, ID: h.create(t, h.Applications, `{"name": "Leaving"}`)}
		members := h.create(t, h.Groups, object(t, "name", "Left", "members", []schemas.Principal{h.other()}))
		holders := h.create(t, h.Roles, object(t, "name", "Held", "assignments", []schemas.Principal{h.other(), app}))
		others := h.create(t, h.Groups, object(t, "name", "Others", "members", []schemas.Principal{h.user()}))
		tag := func(r Resource, id string) string {
			item, err := r.Get(t.Context(), SystemCall(), id)
			must(t, err)
			return item.ETag
		}
		group, role, other := tag(h.Groups, members), tag(h.Roles, holders), tag(h.Groups, others)
		must(t, h.Applications.Delete(t.Context(), SystemCall(), app.ID, ""))
		between := tag(h.Roles, holders)
		must(t, h.Users.Delete(t.Context(), SystemCall(), h.other().ID, ""))
		if tag(h.Groups, members) == group || between == role || tag(h.Roles, holders) == between {
			t.Error("a group or role without its member has the tag it had with it")
		}
		if tag(h.Groups, others) != other {
			t.Error("a group that lost no member has changed")
		}
		item, err := h.Roles.Get(t.Context(), SystemCall(), holders)
		must(t, err)
		if left := item.Value.(*schemas.Role).Assignments; len(left) != 0 {
			t.Errorf("%v are left", left)
		}
	})
}
