package directory

import (
	"bytes"
	"encoding/json"
	"maps"
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
		remove:   func(w *writeContext, t *schemas.UserType) { guardUsersOf(w, t, nil) },
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
	if old == nil || len(w.shape)+len(w.problems)+len(w.forbidden) > 0 {
		return
	}
	if old.Name != t.Name {
		guardUsersOf(w, old, t)
	}
	checkScope(w, old, t)
	w.fail(d.checkUsersOf(w, old, t))
}

// checkScope checks a change of the identifier scope. It moves names and addresses of all users of
// the type, so it needs the permission system. A type gets its own scope only if each application
// that allows it allows no other type, where a name could then identify two users (checkTypeUses), and if
// no user of it has permissions of the service: administrators sign in at applications that allow all
// types, and these find only users of the global scope.
func checkScope(w *writeContext, old, t *schemas.UserType) {
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
}

// guardUsersOf undoes a write that deletes or renames a type with users. Outside of the transaction, the
// check finds what else uses the type: see checkTypeUses. T is nil for a deleted type.
func guardUsersOf(w *writeContext, old, t *schemas.UserType) {
	uses, err := store.Uses(w.ctx, w.tx, "userType", old.ID)
	if w.fail(err) || len(uses) == 0 {
		return
	}
	change := w.call.change
	change.types[old.ID], change.typeUsers[old.ID], change.narrowsType = t, uses, true
	w.fail(errUnchecked)
}

// maxTypeUses limits how many resources the error lists.
const maxTypeUses = 20

// checkTypeUses refuses a change that deletes or renames a user type that is in use, or gives it its own
// identifier scope while an application allows other types too.
func checkTypeUses(n Noun, c *systemChange, before, after *systemState) error {
	for _, id := range slices.Sorted(maps.Keys(c.types)) {
		old, t := before.types[id], c.types[id]
		if old == nil {
			continue
		}
		done, uses := "deleted", []store.Use(nil)
		switch {
		case t == nil || t.Name != old.Name:
			if t != nil {
				done = "renamed"
			}
			uses = slices.Concat(c.typeUsers[id], after.allowing(old.Name, 0, "allows it"), after.creating(old.Name))
		case t.IdentifierScope != "" && t.IdentifierScope != old.IdentifierScope:
			done, uses = "given its own identifier scope", after.allowing(t.Name, 1, "allows other user types as well")
		}
		if len(uses) > 0 {
			return errInUse(n, done, uses[:min(len(uses), maxTypeUses)])
		}
	}
	return nil
}

// allowing lists the applications that allow a user type and at least so many others.
func (s *systemState) allowing(userType string, others int, how string) (uses []store.Use) {
	for _, id := range slices.Sorted(maps.Keys(s.applications)) {
		if a := s.applications[id]; len(a.AllowedUserTypes) > others && slices.Contains(a.AllowedUserTypes, userType) {
			uses = append(uses, store.Use{ResourceRef: schemas.ResourceRef{Type: "application", ID: id}, Name: a.Name, How: how})
		}
	}
	return uses
}

// creating lists the flows that create users of a type.
func (s *systemState) creating(userType string) (uses []store.Use) {
	for _, id := range slices.Sorted(maps.Keys(s.flows)) {
		if f := s.flows[id]; startsCreating(f, userType) {
			uses = append(uses, store.Use{ResourceRef: schemas.ResourceRef{Type: "flow", ID: id}, Name: f.Handle, How: "creates users of it"})
		}
	}
	return uses
}

// startsCreating reports whether a flow or one of its parts creates users of a type.
func startsCreating(f *schemas.Flow, userType string) bool {
	for _, part := range f.Parts {
		if startsCreating(part, userType) {
			return true
		}
	}
	return createsUsers(f, userType)
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
