package directory

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Resources in use cannot be deleted, and the error lists the uses.
func TestResourcesInUseAreKept(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		outer := h.create(t, h.Groups, object(t, "name", "Outer", "members", []schemas.Principal{group(h.ids["group"])}))
		inner := h.create(t, h.Units, `{"handle": "inner", "name": "Inner"}`)
		before := h.state(t)
		for _, c := range []struct {
			r    Resource
			id   string
			tell []string
		}{
			{h.Groups, h.ids["group"], []string{
				`role: role "Taken" (` + h.ids["role"] + `) is assigned to it`, `group: group "Outer" (` + outer + `) has it as a member`}},
			{h.Flows, h.ids["signin"], []string{`application: application "Taken" (` + h.ids["application"] + `) signs people in with it`}},
			{h.Flows, h.ids["signup"], []string{`application: application "Taken" (` + h.ids["application"] + `) registers people with it`}},
			{h.ResourceServers, h.ids["server"], []string{
				`role: role "Taken" (` + h.ids["role"] + `) grants "shop:orders:write"`,
				`application: application "Taken" (` + h.ids["application"] + `) has "shop:orders:read" as a registered scope`}},
		} {
			refused(t, c.r.Delete(t.Context(), SystemCall(), c.id, ""), schemas.CodeInUse, c.tell...)
		}
		if after := h.state(t); !maps.Equal(before, after) {
			t.Errorf("something changed: %v became %v", before, after)
		}
		must(t, h.Units.Delete(t.Context(), SystemCall(), inner, ""))
		must(t, h.Groups.Delete(t.Context(), SystemCall(), outer, ""))
	})
}

// A unit contains resources of every noun.
func TestUnitsInUse(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		for name, fill := range map[string]func(unit string){
			"organizationUnit": func(unit string) {
				h.create(t, h.Units, object(t, "handle", "below", "name", "Below", "parentId", unit))
			},
			"application": func(unit string) { h.create(t, h.Applications, object(t, "name", "In it", "ouId", unit)) },
			"group":       func(unit string) { h.create(t, h.Groups, object(t, "name", "In it", "ouId", unit)) },
			"role":        func(unit string) { h.create(t, h.Roles, object(t, "name", "In it", "ouId", unit)) },
			"resourceServer": func(unit string) {
				h.create(t, h.ResourceServers, object(t, "handle", "in-it", "name", "In it", "ouId", unit))
			},
			"user": func(unit string) {
				must(t, h.store.Update(t.Context(), func(tx *store.Tx) error {
					return store.Users().Insert(tx, &schemas.User{ID: schemas.NewID(), Type: "Person", OUID: unit, CreatedAt: h.now(), UpdatedAt: h.now()})
				}))
			},
			"userType": func(unit string) {
				must(t, h.store.Update(t.Context(), func(tx *store.Tx) error {
					person := schemas.Person()
					person.ID, person.Name, person.OUID, person.CreatedAt, person.UpdatedAt = schemas.NewID(), "In it", unit, h.now(), h.now()
					return store.UserTypes().Insert(tx, &person)
				}))
			},
		} {
			unit := h.create(t, h.Units, object(t, "handle", "unit-"+schemas.NewID(), "name", name))
			fill(unit)
			err := h.Units.Delete(t.Context(), SystemCall(), unit, "")
			refused(t, err, schemas.CodeInUse)
			if reported := schemas.AsError(err).Errors; len(reported) != 1 || reported[0].Path != name {
				t.Errorf("%s in a unit: got %v", name, reported)
			}
		}
	})
}

func TestTheDefaultUnitIsKept(t *testing.T) {
	h := furnished(t, newFixture(t))
	refused(t, h.Units.Delete(t.Context(), SystemCall(), h.unit, ""), schemas.CodeReadOnly, ": it cannot be deleted")
	_, err := h.Units.Replace(t.Context(), SystemCall(), h.unit, "", doc(t, `{"handle": "root", "name": "Root"}`))
	refused(t, err, schemas.CodeReadOnly, `handle: expected "default", got "root"`)
	_, err = h.Units.Replace(t.Context(), SystemCall(), h.unit, "", doc(t, `{"handle": "default", "name": "Root"}`))
	must(t, err)
}

func TestUnitCyclesAreRefused(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		top := w.create(t, w.Units, `{"handle": "top", "name": "Top"}`)
		middle := w.create(t, w.Units, object(t, "handle", "middle", "name", "Middle", "parentId", top))
		bottom := w.create(t, w.Units, object(t, "handle", "bottom", "name", "Bottom", "parentId", middle))
		for _, parent := range []string{top, middle, bottom} {
			_, err := w.Units.Replace(t.Context(), SystemCall(), top, "", doc(t, object(t, "handle", "top", "name", "Top", "parentId", parent)))
			refused(t, err, schemas.CodeInvalidRequest, "parentId: would be its own ancestor")
		}
		page, err := w.Units.List(t.Context(), SystemCall(), Query{Limit: 10, Filter: "parentId", Value: top})
		must(t, err)
		if page.Total != 1 || page.Items[0].ID != middle {
			t.Errorf("below %s there are %v, expected %s", top, page.Items, middle)
		}
	})
}

// A user type is used only under its exact name, not as part of another name or list.
func TestUserTypesInUse(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		types := map[string]string{}
		must(t, h.store.Update(t.Context(), func(tx *store.Tx) error {
			for _, name := range []string{"Staff", "Sta", "ff", "S%ff", "Guest"} {
				v := schemas.Person()
				v.ID, v.Name, v.OUID, v.CreatedAt, v.UpdatedAt = schemas.NewID(), name, h.unit, h.now(), h.now()
				types[name] = v.ID
				if err := store.UserTypes().Insert(tx, &v); err != nil {
					return err
				}
			}
			return nil
		}))
		app := h.create(t, h.Applications, `{"name": "Office", "allowedUserTypes": ["Guest", "Staff"]}`)
		for name, used := range map[string]bool{"Staff": true, "Guest": true, "Sta": false, "ff": false, "S%ff": false} {
			err := h.UserTypes.Delete(t.Context(), SystemCall(), types[name], "")
			if used {
				refused(t, err, schemas.CodeInUse, fmt.Sprintf("application: application \"Office\" (%s) allows it", app))
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestResourceServersKeepWhatIsGranted(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		_, err := h.ResourceServers.Replace(t.Context(), SystemCall(), h.ids["server"], "", doc(t, `{"handle": "shop", "name": "Shop",
			"resources": [{"handle": "orders", "actions": [{"handle": "read"}]}]}`))
		refused(t, err, schemas.CodeInUse, `role: role "Taken" (`+h.ids["role"]+`) grants "shop:orders:write"`)
		_, err = h.ResourceServers.Replace(t.Context(), SystemCall(), h.ids["server"], "", doc(t, `{"handle": "store", "name": "Shop"}`))
		refused(t, err, schemas.CodeInUse, `role: grants "shop:orders:write"`, `application: has "shop:orders:read"`)
		item, err := h.ResourceServers.Replace(t.Context(), SystemCall(), h.ids["server"], "", doc(t, `{"handle": "shop", "name": "Shop", "permissions": ["all"],
			"resources": [{"handle": "refunds"}, {"handle": "orders", "actions": [{"handle": "write"}, {"handle": "read"}]}]}`))
		must(t, err)
		want := []string{"shop", "shop:refunds", "shop:orders", "shop:orders:write", "shop:orders:read"}
		if got := item.Value.(*schemas.ResourceServer).Permissions; len(got) != len(want) || got[1] != want[1] || got[4] != want[4] {
			t.Errorf("got the permissions %q, expected %q", got, want)
		}
	})
}

// Only the program changes Postern's own resource server, and no other one can become
// read-only.
func TestReadOnlyResourceServers(t *testing.T) {
	h := furnished(t, newFixture(t))
	admin := as(h.ids["user"], "system")
	body := `{"handle": "system", "name": "System", "resources": [{"handle": "users"}]}`
	_, err := h.ResourceServers.Replace(t.Context(), admin, h.ids["system"], "", doc(t, body))
	refused(t, err, schemas.CodeReadOnly, ": is read-only")
	refused(t, h.ResourceServers.Delete(t.Context(), admin, h.ids["system"], ""), schemas.CodeReadOnly, ": is read-only")
	item, err := h.ResourceServers.Replace(t.Context(), SystemCall(), h.ids["system"], "", doc(t, body))
	must(t, err)
	if !item.Value.(*schemas.ResourceServer).IsReadOnly {
		t.Error("the system's resource server is no longer read-only")
	}
	item, err = h.ResourceServers.Create(t.Context(), admin, doc(t, `{"handle": "mine", "name": "Mine", "isReadOnly": true}`))
	must(t, err)
	if item.Value.(*schemas.ResourceServer).IsReadOnly {
		t.Error("who is not the program made a resource server read-only")
	}
	must(t, h.ResourceServers.Delete(t.Context(), SystemCall(), h.ids["system"], ""))
	item, err = h.ResourceServers.Create(t.Context(), admin, doc(t, body))
	must(t, err)
	if !item.Value.(*schemas.ResourceServer).IsReadOnly {
		t.Error("the system's resource server, created by another caller, is not read-only")
	}
}

func TestTheConsoleIsKept(t *testing.T) {
	h := furnished(t, newFixture(t))
	h.create(t, h.Applications, object(t, "id", ConsoleID, "name", "Console"))
	refused(t, h.Applications.Delete(t.Context(), SystemCall(), ConsoleID, ""), schemas.CodeReadOnly, ": it cannot be deleted")
	_, err := h.Applications.Replace(t.Context(), SystemCall(), ConsoleID, "", doc(t, `{"name": "Administration"}`))
	must(t, err)
}

// Deleting a flow ends only its own unfinished runs.
func TestDeletedFlowEndsItsRuns(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		flow := h.ownResource(t, h.Flows)
		now := h.now()
		run := schemas.Run{ID: schemas.NewID(), Revision: 1, Status: schemas.Incomplete, FlowID: flow.ID, FlowVersion: 1,
			ApplicationID: h.ids["application"], Node: "key", CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(time.Hour)}
		other := run
		other.ID, other.FlowID = schemas.NewID(), schemas.NewID()
		for _, r := range []schemas.Run{run, other} {
			must(t, h.store.Commit(t.Context(), &r, nil))
		}
		must(t, h.Flows.Delete(t.Context(), SystemCall(), flow.ID, ""))
		_, err := h.Flows.Get(t.Context(), SystemCall(), flow.ID)
		refused(t, err, schemas.CodeFlowNotFound)
		_, err = h.store.Run(t.Context(), run.ID)
		refused(t, err, schemas.CodeExecutionNotFound)
		run.Revision++
		refused(t, h.store.Commit(t.Context(), &run, nil), schemas.CodeStaleStep)
		_, err = h.store.Run(t.Context(), other.ID)
		must(t, err)
	})
}
