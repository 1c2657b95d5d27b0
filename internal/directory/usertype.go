package directory

import (
	"bytes"
	"encoding/json"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func (d *Directory) userTypeCollection() *collection[schemas.UserType] {
	table := store.UserTypes()
	noun := Noun{
		Name: "userType", Plural: "userTypes", Path: "/user-types",
		Read: "system:user-types:read", Write: "system:user-types:write",
		Schema: schemas.UserTypeSchema, Key: "name", Filters: table.Filters(),
		verbatim: []string{"schema"}, // a JSON Schema
	}
	return &collection[schemas.UserType]{
		d: d, table: table, noun: noun,
		meta:     func(t *schemas.UserType) meta { return meta{&t.ID, &t.CreatedAt, &t.UpdatedAt} },
		complete: completeUserType,
		check:    func(w *writeContext, old, t *schemas.UserType) { d.checkUserType(w, noun, old, t) },
		changed:  reclaimAttributes,
		remove:   func(w *writeContext, t *schemas.UserType) { w.inUse = usesOfType(w, t) },
	}
}

func completeUserType(w *writeContext, _, t *schemas.UserType) {
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

// usesOfType returns the users, applications and flows that name a type.
func usesOfType(w *writeContext, t *schemas.UserType) []store.Use {
	uses, err := store.Uses(w.ctx, w.tx, "userType", t.ID)
	w.fail(err)
	err = forEach(w, store.Flows().List, store.Page{}, func(f *schemas.Flow) string { return f.ID }, func(f *schemas.Flow) error {
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
