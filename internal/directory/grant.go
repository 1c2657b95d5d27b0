package directory

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Nobody hands out what they do not have: else whoever may write groups, say,
// could put themselves into the one that may do everything.

// requirePermissions refuses the write unless the caller has all permissions of what it is
// about.
func (w *writeContext) requirePermissions(path, what string, permissions []string) {
	for _, p := range permissions {
		if !w.call.Permits(p) {
			w.addForbidden(path, "%s has the permission %q, which you do not have; ask a user who has it to make this change", what, p)
			return
		}
	}
}

// requireOf is require for what a principal has by its roles.
func (w *writeContext) requireOf(path, what string, p schemas.Principal) error {
	permissions, err := store.PermissionsOf(w.ctx, w.tx, p)
	if err != nil {
		return err
	}
	w.requirePermissions(path, what, permissions)
	return nil
}

// checkPermissions checks a list of permissions that the resource is to grant:
// that there are such, and that the caller has them. At is the path of each;
// others is what else may have been meant by one that there is not.
func checkPermissions(w *writeContext, at func(i int) string, permissions, others []string) error {
	known, err := store.ExistingKeys(w.ctx, w.tx, "permission", permissions)
	if err != nil {
		return err
	}
	for i, p := range permissions {
		if !known[p] {
			if err := w.noPermission(at(i), p, others); err != nil {
				return err
			}
		} else if !w.call.Permits(p) {
			w.addForbidden(at(i), "you do not have the permission %q yourself, so you cannot give it to others", p)
		}
	}
	return nil
}

// maxHints is how many problems are told along with what was probably meant.
// Looking for it costs much for each: all others wait for a transaction.
const maxHints = 10

// noPermission notes that there is no such permission, and which one was
// probably meant: another, or one of others.
func (w *writeContext) noPermission(path, permission string, others []string) error {
	hint := ""
	if len(w.problems) < maxHints {
		if w.permissions == nil {
			names, err := store.PermissionNames(w.ctx, w.tx)
			if err != nil {
				return err
			}
			w.permissions = append(names, others...)
		}
		hint = schemas.Hint(permission, w.permissions)
	}
	w.addInvalid(path, "no resource server has a permission %.64q%s", permission, hint)
	return nil
}

// maxPrincipals is how many a list of principals may have, as the schemas say.
const maxPrincipals = 10000

// checkPrincipals checks a list of principals: that they are of the types, and
// are there. Those that were in the list before are.
func checkPrincipals(w *writeContext, path string, was, list []schemas.Principal, types ...schemas.PrincipalType) error {
	if len(list) > maxPrincipals {
		w.addInvalid(path, "expected at most %d, got %d; put some into a group of their own", maxPrincipals, len(list))
		return nil
	}
	known, err := w.existingPrincipals(was, list)
	if err != nil {
		return err
	}
	for i, p := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !slices.Contains(types, p.Type) {
			w.addInvalid(at+".type", "expected %s, got %.64q", quoted(types), p.Type)
		} else if !known[p] {
			w.addInvalid(at+".id", "there is no %s with the id %.64q", p.Type, p.ID)
		}
	}
	return nil
}

// quoted lists words as alternatives: "user" or "group".
func quoted[S ~string](words []S) string {
	var list []string
	for _, word := range words {
		list = append(list, strconv.Quote(string(word)))
	}
	return schemas.OneOf(list)
}

// existingPrincipals looks up which of the principals there are, ten thousand of them in
// a few questions.
func (w *writeContext) existingPrincipals(was, list []schemas.Principal) (map[schemas.Principal]bool, error) {
	known := make(map[schemas.Principal]bool, len(list))
	for _, p := range was {
		known[p] = true
	}
	for _, kind := range []schemas.PrincipalType{schemas.UserPrincipal, schemas.GroupPrincipal, schemas.ApplicationPrincipal} {
		var ids []string
		for _, p := range list {
			if p.Type == kind && !known[p] {
				ids = append(ids, p.ID)
			}
		}
		there, err := store.ExistingKeys(w.ctx, w.tx, string(kind), ids)
		if err != nil {
			return nil, err
		}
		for id := range there {
			known[schemas.Principal{Type: kind, ID: id}] = true
		}
	}
	return known, nil
}

// sortedPrincipals is a list of principals in the order in which it is kept; never nil.
func sortedPrincipals(list []schemas.Principal) []schemas.Principal {
	list = append([]schemas.Principal{}, list...)
	slices.SortFunc(list, schemas.Principal.Compare)
	return list
}

// addPrincipal is a list with p in front of it, unless it has it already; without is the
// list with no p. Neither writes into the list.
func addPrincipal(list []schemas.Principal, p schemas.Principal) []schemas.Principal {
	if slices.Contains(list, p) {
		return list
	}
	return slices.Concat([]schemas.Principal{p}, list)
}

func removePrincipal(list []schemas.Principal, p schemas.Principal) []schemas.Principal {
	return slices.DeleteFunc(slices.Clone(list), func(q schemas.Principal) bool { return p == q })
}
