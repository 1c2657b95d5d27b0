package directory

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Mappings of identity providers
//
// A mapping lets another system write attributes and members of groups. So who changes it needs the permissions to
// write users and groups, and every permission that an account at the provider can get through a group. The
// mapping declares these, and no group that it manages may have another one. The latter holds whichever
// the order in which providers, groups and roles are stored.

// completeMapping replaces names in a mapping by ids, and leaves out an empty mapping.
func completeMapping(w *writeContext, p *schemas.IdentityProvider) {
	if p.Mapping == nil {
		return
	}
	for i := range p.Mapping.Groups {
		g := &p.Mapping.Groups[i]
		resolve(w, store.Groups(), "name", &g.Below)
		resolve(w, store.Units(), "handle", &g.Unit)
		byName := maps.Clone(g.Map)
		for name, group := range byName {
			resolve(w, store.Groups(), "name", &group)
			byName[name] = group
		}
		g.Map = byName
	}
	if p.Mapping.IsZero() && len(p.Mapping.Permissions) == 0 {
		p.Mapping = nil
	}
}

// checkMapping checks the mapping of a provider.
func checkMapping(w *writeContext, old, p *schemas.IdentityProvider) {
	was, m := orZero(orZero(old).Mapping), orZero(p.Mapping)
	if !reflect.DeepEqual(was.Attributes, m.Attributes) {
		w.requireWriter("mapping.attributes", "it writes attributes of users", "system:users:write")
		checkMappedAttributes(w, m.Attributes)
	}
	for i := range m.Groups {
		checkMappedGroups(w, fmt.Sprintf("mapping.groups[%d]", i), &m.Groups[i])
	}
	if !reflect.DeepEqual(was.Groups, m.Groups) {
		w.requireWriter("mapping.groups", "it writes members of groups", "system:groups:write")
	}
	w.requirePermissions("mapping.permissions", "the mapping of this provider", was.Permissions)
	checkPermissions(w, func(i int) string { return fmt.Sprintf("mapping.permissions[%d]", i) }, m.Permissions, nil)
	if len(w.problems) == 0 {
		w.checkGrants(p.Handle, m)
	}
}

// requireWriter refuses the write unless the caller has a permission.
func (w *writeContext) requireWriter(path, why, permission string) {
	if !w.call.Permits(permission) {
		w.addForbidden(path, "%s, which needs the permission %q; ask a user who has it to make this change", why, permission)
	}
}

func checkMappedAttributes(w *writeContext, list []schemas.AttributeMapping) {
	var types []schemas.UserType
	table := store.UserTypes()
	w.fail(forEach(w.ctx, w.tx, table.List, store.Page{}, table.ID, func(t *schemas.UserType) error { types = append(types, *t); return nil }))
	seen := map[string]bool{}
	for i, a := range list {
		at := fmt.Sprintf("mapping.attributes[%d]", i)
		verified := slices.Collect(maps.Values(schemas.VerificationAttributes()))
		switch {
		case seen[a.To]:
			w.addInvalid(at+".to", "another item has the attribute %q already", a.To)
		case a.To == passwordAttribute:
			w.addInvalid(at+".to", "a password cannot come from a provider; choose another attribute")
		case schemas.VerificationAttributes()[a.To] != "":
			w.addInvalid(at+".to", "whether an address is verified follows from the address; set verifiedBy at the item of %q", schemas.VerificationAttributes()[a.To])
		case a.VerifiedBy != "" && !slices.Contains(verified, a.To):
			w.addInvalid(at+".verifiedBy", "only an address or a number can be verified (%s); leave it out", strings.Join(slices.Sorted(slices.Values(verified)), ", "))
		case len(a.Domains) > 0 && (a.To != "email" || a.VerifiedBy == ""):
			w.addInvalid(at+".domains", "domains limit which addresses count as verified; use it at the item of email, with verifiedBy")
		case a.From == "" && a.Default == nil:
			w.addInvalid(at+".from", "expected the claim with the value, or a default")
		case a.From == "" && a.Required:
			w.addInvalid(at+".required", "an attribute without a claim is never missing; leave it out")
		default:
			if p := schemas.CheckAttribute(at+".to", a.To, types); p != nil && !p.Warning {
				w.problems = append(w.problems, *p)
			}
		}
		seen[a.To] = true
	}
}

func checkMappedGroups(w *writeContext, at string, g *schemas.GroupMapping) {
	ways := 0
	for _, set := range []bool{len(g.Map) > 0, g.Below != "", g.Unit != ""} {
		if set {
			ways++
		}
	}
	switch {
	case ways != 1:
		w.addInvalid(at, "expected one of map, below and unit: they are the groups that the provider may fill")
	case g.RemovePrefix && g.Prefix == "":
		w.addInvalid(at+".removePrefix", "there is no prefix to remove; set prefix, or leave it out")
	}
	if claim, _, _ := strings.Cut(g.From, "."); schemas.StatedByUsers(claim) {
		w.addInvalid(at+".from", "users of a provider set the claim %q themselves, and would choose their groups; use a claim that the provider states about them", claim)
	}
	checkExists(w, store.Groups(), at+".below", g.Below)
	checkExists(w, store.Units(), at+".unit", g.Unit)
	ids := slices.Collect(maps.Values(g.Map))
	known, err := store.ExistingKeys(w.ctx, w.tx, string(schemas.GroupPrincipal), ids)
	w.fail(err)
	for _, name := range slices.Sorted(maps.Keys(g.Map)) {
		if !known[g.Map[name]] {
			w.addInvalid(schemas.JoinPath(at+".map", schemas.MemberPath("", name)), "there is no group with the id or name %.64q; create it first", g.Map[name])
		}
	}
}

// checkGrants refuses a mapping of groups with permissions that it does not declare. It is a conflict with the groups
// and roles, which another change of the same transaction may resolve.
func (w *writeContext) checkGrants(handle string, m *schemas.ProviderMapping) {
	for i := range m.Groups {
		found, err := w.undeclared(m, &m.Groups[i])
		if w.fail(err) || len(found) == 0 {
			continue
		}
		w.refusal = schemas.Errorf(schemas.Conflict, CodeProviderGrants,
			"mapping.groups[%d]: the group %q gives its members the permission %q, so accounts at the provider %q could get it: "+
				"declare it in mapping.permissions, or choose another group", i, found[0].group, found[0].permission, handle)
	}
}

// undeclaredGrant is a permission that a provider could give through a group without having declared it.
type undeclaredGrant struct{ group, permission string }

// undeclared returns at most one undeclared permission for each group.
func (w *writeContext) undeclared(m *schemas.ProviderMapping, g *schemas.GroupMapping) (found []undeclaredGrant, err error) {
	managed, err := store.ManagedGroups(w.tx, g)
	if err != nil {
		return nil, err
	}
	for _, id := range managed {
		has, err := store.PermissionsOf(w.ctx, w.tx, schemas.Principal{Type: schemas.GroupPrincipal, ID: id})
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(has, func(p string) bool { return !m.Grants(p) })
		if i < 0 {
			continue
		}
		group, err := store.Groups().Get(w.ctx, w.tx, id)
		if err != nil {
			return nil, err
		}
		found = append(found, undeclaredGrant{group.Name, has[i]})
	}
	return found, nil
}

// guardGrants refuses a change of a group or a role with which accounts at a provider could get a permission
// that its mapping does not declare.
func guardGrants(w *writeContext) error {
	providers, err := store.MappingProviders(w.ctx, w.tx)
	if err != nil {
		return err
	}
	for _, p := range providers {
		for i := range p.Mapping.Groups {
			found, err := w.undeclared(p.Mapping, &p.Mapping.Groups[i])
			if err != nil {
				return err
			}
			if len(found) > 0 {
				return schemas.Errorf(schemas.Conflict, CodeProviderGrants,
					"with this change the group %q would give the permission %q, and the identity provider %q makes its users members of it: "+
						"first declare the permission in mapping.permissions of that provider, or take the group out of its mapping", found[0].group, found[0].permission, p.Handle)
			}
		}
	}
	return nil
}

// CodeProviderGrants is the error code of a change with which accounts at an identity provider could get a permission
// that its mapping does not declare. Its class is Conflict.
const CodeProviderGrants = "provider_grants_permission"
