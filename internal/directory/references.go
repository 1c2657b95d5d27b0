package directory

import (
	"context"
	"strings"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// checkUnique reports a conflict if a resource other than own has the value. Own is "" for
// a new resource.
func checkUnique[T any](w *writeContext, table *store.Table[T], member, value, own string) error {
	if value == "" {
		return nil
	}
	other, err := table.Find(w.ctx, w.tx, member, value)
	if err != nil || other == nil || table.ID(other) == own {
		return err
	}
	w.addConflict(member, "%q is that of another one (%s); choose another", value, table.ID(other))
	return nil
}

// checkExists reports a problem at the path if no resource has the id. Other checks report
// an empty id.
func checkExists[T any](w *writeContext, table *store.Table[T], path, id string) error {
	if id == "" {
		return nil
	}
	_, err := table.Get(w.ctx, w.tx, id)
	if e := schemas.AsError(err); err != nil && e.Class == schemas.NotFound {
		text := e.Description.DefaultValue
		w.addInvalid(path, "%s", strings.ToLower(text[:1])+strings.TrimSuffix(text[1:], "."))
		return nil
	}
	return err
}

// resolve replaces a handle or name by the id of its resource. Ids and unknown names stay;
// checkExists reports them.
func resolve[T any](w *writeContext, table *store.Table[T], member string, reference *string) error {
	if *reference == "" || isCanonicalUUID(*reference) {
		return nil
	}
	found, err := table.Find(w.ctx, w.tx, member, *reference)
	if err != nil || found == nil {
		return err
	}
	*reference = table.ID(found)
	return nil
}

// resolveUserType replaces the id of a user type by its name: users and applications refer
// to types by name.
func resolveUserType(w *writeContext, reference *string) error {
	if !isCanonicalUUID(*reference) {
		return nil
	}
	t, err := store.UserTypes().Get(w.ctx, w.tx, *reference)
	if schemas.HasClass(err, schemas.NotFound) {
		return nil // the checks report it
	}
	if err != nil {
		return err
	}
	*reference = t.Name
	return nil
}

// defaultUnit completes a reference to an organization unit: a handle becomes an id, and a
// missing reference the id of the default unit.
func defaultUnit(w *writeContext, ouID *string) error {
	if *ouID != "" {
		return resolve(w, store.Units(), "handle", ouID)
	}
	u, err := store.Units().Find(w.ctx, w.tx, "handle", DefaultUnit)
	switch {
	case err != nil:
		return err
	case u == nil:
		w.addInvalid("ouId", "there is no default organization unit %q; set one", DefaultUnit)
	default:
		*ouID = u.ID
	}
	return nil
}

// addUses reports the resources that refer to a resource.
func (w *writeContext) addUses(noun, id string) (err error) {
	w.inUse, err = store.Uses(w.ctx, w.tx, noun, id)
	return err
}

// idOf returns the id of v, "" if v is nil.
func idOf[T any](v *T, id func(*T) string) string {
	if v == nil {
		return ""
	}
	return id(v)
}

// pageSize is the number of resources that forEach reads at a time.
const pageSize = 500

// forEach calls do with every resource of the page's list, oldest first.
func forEach[T any](w *writeContext, list func(context.Context, store.Reader, store.Page) ([]T, error), page store.Page, id func(*T) string, do func(*T) error) error {
	for page.Limit = pageSize; ; {
		found, err := list(w.ctx, w.tx, page)
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
