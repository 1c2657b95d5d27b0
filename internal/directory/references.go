package directory

import (
	"context"
	"strings"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// checkUnique notes a conflict if another resource than the one with the id own has
// the value. Own is "" for a new one.
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

// checkExists notes a problem at the path unless there is a resource with the id. That
// there is none named at all has been noted by who knows what it means.
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

// resolve replaces a handle or name, of the member that is unique, by the id of the
// resource that has it. An id stays, and so does what refers to nothing: exists notes it.
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

// resolveUserType replaces the id of a user type by its name, by which users and
// applications refer to it.
func resolveUserType(w *writeContext, reference *string) error {
	if !isCanonicalUUID(*reference) {
		return nil
	}
	t, err := store.UserTypes().Get(w.ctx, w.tx, *reference)
	if schemas.HasClass(err, schemas.NotFound) {
		return nil // the checks note it
	}
	if err != nil {
		return err
	}
	*reference = t.Name
	return nil
}

// defaultUnit completes a reference to an organization unit: by the id of the unit with
// the handle, or of the default one.
func defaultUnit(w *writeContext, ouID *string) error {
	if *ouID != "" {
		return resolve(w, store.Units(), "handle", ouID)
	}
	u, err := store.Units().Find(w.ctx, w.tx, "handle", DefaultUnit)
	switch {
	case err != nil:
		return err
	case u == nil:
		w.addInvalid("ouId", "there is no organization unit %q to take instead of none; name one", DefaultUnit)
	default:
		*ouID = u.ID
	}
	return nil
}

// addUses notes who refers to a resource.
func (w *writeContext) addUses(noun, id string) (err error) {
	w.inUse, err = store.Uses(w.ctx, w.tx, noun, id)
	return err
}

// idOf is the id of a resource that may not exist.
func idOf[T any](v *T, id func(*T) string) string {
	if v == nil {
		return ""
	}
	return id(v)
}

// pageSize is how many resources are read at a time where all are looked at.
const pageSize = 500

// forEach calls do with every resource of a list, oldest first. Page says of which
// list.
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
