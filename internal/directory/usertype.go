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
		check: func(w *writeContext, old, t *schemas.UserType) error {
			return d.checkUserType(w, noun, old, t)
		},
		changed: reclaimAttributes,
		remove: func(w *writeContext, t *schemas.UserType) (err error) {
			w.inUse, err = usesOfType(w, t)
			return err
		},
	}
}

func completeUserType(w *writeContext, _, t *schemas.UserType) error {
	var compact bytes.Buffer
	if len(t.Schema) > 0 && json.Compact(&compact, t.Schema) == nil {
		t.Schema = compact.Bytes() // layout is not part of it
	}
	return defaultUnit(w, &t.OUID)
}

func (d *Directory) checkUserType(w *writeContext, n Noun, old, t *schemas.UserType) error {
	if old != nil {
		if err := guardAttributes(w, old, t); err != nil {
			return err
		}
	}
	if err := checkUnique(w, store.UserTypes(), "name", t.Name, idOf(old, func(o *schemas.UserType) string { return o.ID })); err != nil {
		return err
	}
	if err := checkExists(w, store.Units(), "ouId", t.OUID); err != nil {
		return err
	}
	if len(t.Schema) > 0 { // a missing schema is reported already
		w.problems = append(w.problems, t.CheckDefinition()...)
	}
	if old == nil || len(w.shape)+len(w.problems) > 0 {
		return nil
	}
	if err := checkRename(w, n, old, t); err != nil {
		return err
	}
	return d.checkUsersOf(w, old, t)
}

// checkRename refuses to rename a type that is in use.
func checkRename(w *writeContext, n Noun, old, t *schemas.UserType) error {
	if old.Name == t.Name {
		return nil
	}
	uses, err := usesOfType(w, old)
	if len(uses) > 0 {
		w.refusal = errInUse(n, "renamed", uses)
	}
	return err
}

// usesOfType returns the users, applications and flows that name a type.
func usesOfType(w *writeContext, t *schemas.UserType) ([]store.Use, error) {
	uses, err := store.Uses(w.ctx, w.tx, "userType", t.ID)
	if err != nil {
		return nil, err
	}
	err = forEach(w, store.Flows().List, store.Page{}, func(f *schemas.Flow) string { return f.ID }, func(f *schemas.Flow) error {
		if createsUsers(f, t.Name) {
			uses = append(uses, store.Use{
				ResourceRef: schemas.ResourceRef{Type: "flow", ID: f.ID}, Name: f.Handle, How: "creates users of it",
			})
		}
		return nil
	})
	return uses, err
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
