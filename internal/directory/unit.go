package directory

import (
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func (d *Directory) unitCollection() *collection[schemas.OrganizationUnit] {
	table := store.Units()
	return &collection[schemas.OrganizationUnit]{
		d: d, table: table,
		noun:     newNoun(Noun{Name: "organizationUnit", Schema: schemas.OrganizationUnitSchema, Key: "handle", Filters: table.Filters(), Prefixes: table.Prefixes()}),
		meta:     func(u *schemas.OrganizationUnit) meta { return meta{&u.ID, &u.CreatedAt, &u.UpdatedAt} },
		complete: func(w *writeContext, _, u *schemas.OrganizationUnit) { resolve(w, table, "handle", &u.ParentID) },
		check:    checkUnit,
		remove:   removeUnit,
	}
}

func checkUnit(w *writeContext, old, u *schemas.OrganizationUnit) {
	was := orZero(old)
	if was.Handle == DefaultUnit && u.Handle != was.Handle {
		w.addReadOnly("handle", "expected %q, got %.64q: the default unit is found by its handle", was.Handle, u.Handle)
	}
	checkUnique(w, store.Units(), "handle", u.Handle, was.ID)
	checkExists(w, store.Units(), "parentId", u.ParentID)
	checkAncestry(w, was.ID, u.ParentID)
	if old != nil {
		guardBrand(w, old, u)
	}
}

// guardBrand lets a caller change the name and logo that sign-in pages show for a unit only with
// all permissions of the users who may sign in there: see signinguard.go. Applications of units
// below may show them, so these are all users.
func guardBrand(w *writeContext, old, u *schemas.OrganizationUnit) {
	if w.isUnlimited() {
		return
	}
	was := brandOf(w, old.ID)
	is := &schemas.Brand{Name: u.Name, LogoURL: u.LogoURL}
	if u.LogoURL == "" {
		is = brandOf(w, u.ParentID)
	}
	if differs(was, is) {
		w.requireOfTypes("logoUrl", "a user who may sign in to an application that shows the name and logo of this unit", "", nil)
	}
}

// brandOf returns the brand of a stored unit, nil for that of the service.
func brandOf(w *writeContext, unitID string) *schemas.Brand {
	brand, err := store.BrandOf(w.ctx, w.tx, unitID)
	w.fail(err)
	return brand
}

// differs reports whether two brands look different.
func differs(a, b *schemas.Brand) bool { return orZero(a) != orZero(b) }

// checkAncestry refuses a unit that would be its own ancestor. A new unit has no id yet and
// cannot.
func checkAncestry(w *writeContext, id, parent string) {
	for parent != "" && id != "" {
		if parent == id {
			w.addInvalid("parentId", "the unit would be its own ancestor; choose a parent that is not below it")
			return
		}
		above, err := store.Units().Get(w.ctx, w.tx, parent)
		if schemas.HasClass(err, schemas.NotFound) || w.fail(err) {
			return // an unknown parent is reported already
		}
		parent = above.ParentID
	}
}

func removeUnit(w *writeContext, u *schemas.OrganizationUnit) {
	if u.Handle == DefaultUnit {
		w.addReadOnly("", "resources without an organization unit belong to %q; it cannot be deleted", DefaultUnit)
	}
	w.addUses("organizationUnit", u.ID)
}
