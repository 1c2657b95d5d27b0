package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// checkUnique reports a conflict if a resource other than own has the value. Own is "" for
// a new resource.
func checkUnique[T any](w *writeContext, table *store.Table[T], member, value, own string) {
	if value == "" {
		return
	}
	other, err := table.Find(w.ctx, w.tx, member, value)
	if w.fail(err) || other == nil || table.ID(other) == own {
		return
	}
	w.addConflict(member, "%q already belongs to another one (%s); choose a different one", value, table.ID(other))
}

// checkExists reports a problem at the path if no resource has the id. Other checks report
// an empty id.
func checkExists[T any](w *writeContext, table *store.Table[T], path, id string) {
	if id == "" {
		return
	}
	_, err := table.Get(w.ctx, w.tx, id)
	if e := schemas.AsError(err); err != nil && e.Class == schemas.NotFound {
		w.addInvalid(path, "%s", e.Description.DefaultValue)
		return
	}
	w.fail(err)
}

// resolve replaces a handle or name by the id of its resource. Ids and unknown names stay;
// checkExists reports them.
func resolve[T any](w *writeContext, table *store.Table[T], member string, reference *string) {
	if *reference == "" || isCanonicalUUID(*reference) {
		return
	}
	if found, err := table.Find(w.ctx, w.tx, member, *reference); !w.fail(err) && found != nil {
		*reference = table.ID(found)
	}
}

// resolveUserType replaces the id of a user type by its name: users and applications refer
// to types by name.
func resolveUserType(w *writeContext, reference *string) {
	if !isCanonicalUUID(*reference) {
		return
	}
	t, err := store.UserTypes().Get(w.ctx, w.tx, *reference)
	if schemas.HasClass(err, schemas.NotFound) {
		return // the checks report it
	}
	if !w.fail(err) {
		*reference = t.Name
	}
}

// defaultUnit completes a reference to an organization unit: a handle becomes an id, and a
// missing reference the id of the default unit.
func defaultUnit(w *writeContext, ouID *string) {
	if *ouID != "" {
		resolve(w, store.Units(), "handle", ouID)
		return
	}
	u, err := store.Units().Find(w.ctx, w.tx, "handle", DefaultUnit)
	switch {
	case w.fail(err):
	case u == nil:
		w.addInvalid("ouId", "there is no default organization unit %q; set one", DefaultUnit)
	default:
		*ouID = u.ID
	}
}

// addUses reports the resources that refer to a resource.
func (w *writeContext) addUses(noun, id string) {
	uses, err := store.Uses(w.ctx, w.tx, noun, id)
	w.fail(err)
	w.inUse = uses
}

// orZero returns v, or a zero value if v is nil: a new resource had no value before.
func orZero[T any](v *T) *T {
	if v == nil {
		return new(T)
	}
	return v
}

// pageSize is the number of resources that forEach reads at a time.
const pageSize = 500

// forEach calls do with every resource of the page's list, oldest first.
func forEach[T any](ctx context.Context, r store.Reader, list func(context.Context, store.Reader, store.Page) ([]T, error), page store.Page, id func(*T) string, do func(*T) error) error {
	for page.Limit = pageSize; ; {
		found, err := list(ctx, r, page)
		if err != nil {
			return err
		}
		for i := range found {
			if err := do(&found[i]); err != nil {
				return err
			}
		}
		if len(found) < pageSize {
			return nil
		}
		page.After = id(&found[len(found)-1])
	}
}

// forEachFlow calls do with every flow, oldest first.
func forEachFlow(ctx context.Context, r store.Reader, do func(*schemas.Flow) error) error {
	return forEach(ctx, r, store.Flows().List, store.Page{}, func(f *schemas.Flow) string { return f.ID }, do)
}
