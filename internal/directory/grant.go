package directory

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Callers cannot grant permissions they lack. Otherwise a caller who may write groups could
// join the group of administrators.

// requirePermissions refuses the write unless the caller has all the permissions.
func (w *writeContext) requirePermissions(path, what string, permissions []string) {
	if missing, ok := w.call.lacks(permissions); ok {
		w.addForbidden(path, "%s has the permission %q, which you do not have; ask a user who has it to make this change", what, missing)
	}
	w.requireProof(path, what, permissions)
}

// requireOf is requirePermissions with the permissions that a principal has through roles.
func (w *writeContext) requireOf(path, what string, p schemas.Principal) {
	permissions, err := store.PermissionsOf(w.ctx, w.tx, p)
	w.fail(err)
	w.requirePermissions(path, what, permissions)
}

// checkPermissions checks the permissions that a resource is to grant: they must exist, and
// the caller must have them. At returns the path of each; others are further candidates for
// the hint about an unknown one.
func checkPermissions(w *writeContext, at func(i int) string, permissions, others []string) {
	known, err := store.ExistingKeys(w.ctx, w.tx, "permission", permissions)
	if w.fail(err) {
		return
	}
	for i, p := range permissions {
		if !known[p] {
			w.noPermission(at(i), p, others)
		} else if !w.call.Permits(p) {
			w.addForbidden(at(i), "you do not have the permission %q yourself, so you cannot give it to others", p)
		} else {
			w.requireProof(at(i), "this resource", []string{p})
		}
	}
}

// maxHints limits how many problems get a hint. A hint is expensive, and other writes wait
// for the transaction.
const maxHints = 10

// noPermission reports an unknown permission with a hint: another permission or one of
// others.
func (w *writeContext) noPermission(path, permission string, others []string) {
	hint := ""
	if len(w.problems) < maxHints {
		if w.permissions == nil {
			names, err := store.PermissionNames(w.ctx, w.tx)
			w.fail(err)
			w.permissions = append(names, others...)
		}
		hint = schemas.Hint(permission, w.permissions)
	}
	w.addInvalid(path, "no resource server has a permission %.64q%s", permission, hint)
}

// maxPrincipals limits a list of principals, as the schemas do.
const maxPrincipals = 10000

// checkPrincipals checks that the principals of a list have one of the types and exist.
// Principals that were in the list before are not checked again.
func checkPrincipals(w *writeContext, path string, was, list []schemas.Principal, types ...schemas.PrincipalType) {
	if len(list) > maxPrincipals {
		w.addInvalid(path, "expected at most %d, got %d; put some of them into another group", maxPrincipals, len(list))
		return
	}
	known := w.existingPrincipals(was, list)
	for i, p := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !slices.Contains(types, p.Type) {
			w.addInvalid(at+".type", "expected %s, got %.64q", quoted(types), p.Type)
		} else if !known[p] {
			w.addInvalid(at+".id", "there is no %s with the id %.64q", p.Type, p.ID)
		}
	}
}

// quoted lists words as alternatives: "user" or "group".
func quoted[S ~string](words []S) string {
	var list []string
	for _, word := range words {
		list = append(list, strconv.Quote(string(word)))
	}
	return schemas.OneOf(list)
}

// existingPrincipals returns which of the principals exist, with a few queries for
// thousands of them.
func (w *writeContext) existingPrincipals(was, list []schemas.Principal) map[schemas.Principal]bool {
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
		w.fail(err)
		for id := range there {
			known[schemas.Principal{Type: kind, ID: id}] = true
		}
	}
	return known
}

// sortedPrincipals returns the principals in the order in which they are stored; never nil.
func sortedPrincipals(list []schemas.Principal) []schemas.Principal {
	list = append([]schemas.Principal{}, list...)
	slices.SortFunc(list, schemas.Principal.Compare)
	return list
}

// addPrincipal returns the list with p in front, or the list itself if it contains p;
// withoutPrincipal returns the list without p. Neither writes into the list.
func addPrincipal(list []schemas.Principal, p schemas.Principal) []schemas.Principal {
	if slices.Contains(list, p) {
		return list
	}
	return slices.Concat([]schemas.Principal{p}, list)
}

func removePrincipal(list []schemas.Principal, p schemas.Principal) []schemas.Principal {
	return slices.DeleteFunc(slices.Clone(list), func(q schemas.Principal) bool { return p == q })
}
