package directory

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func (d *Directory) userTypeCollection() *collection[schemas.UserType] {
	table := store.UserTypes()
	noun := newNoun(Noun{Name: "userType", Schema: schemas.UserTypeSchema, Key: "name", Filters: table.Filters(), Prefixes: table.Prefixes()})
	return &collection[schemas.UserType]{
		d: d, table: table, noun: noun,
		meta:     func(t *schemas.UserType) meta { return meta{&t.ID, &t.CreatedAt, &t.UpdatedAt} },
		complete: completeUserType,
		check:    func(w *writeContext, old, t *schemas.UserType) { d.checkUserType(w, noun, old, t) },
		changed:  reclaimAttributes,
		touched:  d.touchType,
		remove:   func(w *writeContext, t *schemas.UserType) { w.inUse = usesOfType(w, t) },
	}
}

func completeUserType(w *writeContext, _, t *schemas.UserType) {
	if t.IdentifierScope == schemas.GlobalIdentifiers {
		t.IdentifierScope = "" // the default
	}
	var compact bytes.Buffer
	if len(t.Schema) > 0 && json.Compact(&compact, t.Schema) == nil {
		t.Schema = compact.Bytes() // layout is not part of it
	}
	defaultUnit(w, &t.OUID)
}

func (d *Directory) checkUserType(w *writeContext, n Noun, old, t *schemas.UserType) {
	if old != nil {
		guardAttributes(w, old, t)
	}
	checkUnique(w, store.UserTypes(), "name", t.Name, orZero(old).ID)
	checkExists(w, store.Units(), "ouId", t.OUID)
	if len(t.Schema) > 0 { // a missing schema is reported already
		w.problems = append(w.problems, t.CheckDefinition()...)
	}
	if old == nil || len(w.shape)+len(w.problems) > 0 {
		return
	}
	checkRename(w, n, old, t)
	checkScope(w, n, old, t)
	w.fail(d.checkUsersOf(w, old, t))
}

// checkRename refuses to rename a type that is in use.
func checkRename(w *writeContext, n Noun, old, t *schemas.UserType) {
	if old.Name == t.Name {
		return
	}
	if uses := usesOfType(w, old); len(uses) > 0 {
		w.refusal = errInUse(n, "renamed", uses)
	}
}

// checkScope checks a change of the identifier scope. It moves names and addresses of all users of
// the type, so it needs the permission system. A type gets its own scope only if each application
// that allows it allows no other type, where a name could then identify two users, and if no user
// of it has permissions of the service: administrators sign in at applications that allow all
// types, and these find only users of the global scope.
func checkScope(w *writeContext, n Noun, old, t *schemas.UserType) {
	if t.IdentifierScope == old.IdentifierScope {
		return
	}
	if !w.call.Permits(systemPermission) {
		w.addForbidden("identifierScope", "changing the identifier scope also requires the permission %q", systemPermission)
	}
	if t.IdentifierScope == "" {
		return
	}
	permissions, err := store.UserPermissions(w.ctx, w.tx, []string{old.Name})
	w.fail(err)
	if len(permissions) > 0 {
		w.addInvalid("identifierScope", "users of this type have permissions of the service, such as %q; move them to another type first", permissions[0])
	}
	var uses []store.Use
	w.fail(forEach(w.ctx, w.tx, store.Applications().List, store.Page{}, func(a *schemas.Application) string { return a.ID }, func(a *schemas.Application) error {
		if len(a.AllowedUserTypes) > 1 && slices.Contains(a.AllowedUserTypes, old.Name) {
			uses = append(uses, store.Use{
				ResourceRef: schemas.ResourceRef{Type: "application", ID: a.ID}, Name: a.Name, How: "allows other user types as well",
			})
		}
		return nil
	}))
	if len(uses) > 0 {
		w.refusal = errInUse(n, "given its own identifier scope", uses)
	}
}

// usesOfType returns the users, applications and flows that name a type.
func usesOfType(w *writeContext, t *schemas.UserType) []store.Use {
	uses, err := store.Uses(w.ctx, w.tx, "userType", t.ID)
	w.fail(err)
	err = forEachFlow(w.ctx, w.tx, func(f *schemas.Flow) error {
		if createsUsers(f, t.Name) {
			uses = append(uses, store.Use{
				ResourceRef: schemas.ResourceRef{Type: "flow", ID: f.ID}, Name: f.Handle, How: "creates users of it",
			})
		}
		return nil
	})
	w.fail(err)
	return uses
}

// createsUsers reports whether a flow has a node that creates users of a type. The default
// of such a node is the type of persons.
func createsUsers(f *schemas.Flow, userType string) bool {
	for _, n := range f.Nodes {
		if n.Use != "user-create" {
			continue
		}
		with := struct{ Type string }{schemas.PersonName}
		if len(n.With) > 0 && json.Unmarshal(n.With, &with) != nil {
			continue
		}
		if with.Type == userType {
			return true
		}
	}
	return false
}
