package directory

import (
	"context"
	"fmt"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func (d *Directory) groupCollection() *collection[schemas.Group] {
	table := store.Groups()
	return &collection[schemas.Group]{
		d: d, table: table,
		noun:     newNoun(Noun{Name: "group", Schema: schemas.GroupSchema, Key: "name", Filters: table.Filters(), Prefixes: table.Prefixes(), administers: true}),
		meta:     func(g *schemas.Group) meta { return meta{&g.ID, &g.CreatedAt, &g.UpdatedAt} },
		complete: func(w *writeContext, _, g *schemas.Group) { defaultUnit(w, &g.OUID) },
		check:    checkGroup,
		changed:  func(w *writeContext, _, _ *schemas.Group) error { return guardGrants(w) },
		remove:   func(w *writeContext, g *schemas.Group) { w.addUses("group", g.ID) },
	}
}

// AddMember adds a user or a group to a group. An existing member changes nothing, but the membership that an identity
// provider gave becomes one that the provider does not end.
func (d *Directory) AddMember(ctx context.Context, c Call, groupID string, p schemas.Principal) (*Item, error) {
	return d.groups.updatePart(ctx, c, groupID, "members[0]", func(w *writeContext, g *schemas.Group) {
		if p.Type == schemas.UserPrincipal && slices.Contains(g.Members, p) {
			w.requireOf("members", "the group", schemas.Principal{Type: schemas.GroupPrincipal, ID: groupID})
			w.fail(store.KeepMembership(w.tx, groupID, p.ID))
		}
		g.Members = addPrincipal(g.Members, p)
	})
}

// Members returns a page of the members of a group, sorted by type and id.
func (d *Directory) Members(ctx context.Context, c Call, groupID string, q Query) (*Page, error) {
	return d.groups.principals(ctx, c, groupID, q)
}

// RemoveMember removes a user or a group from a group. A missing member changes nothing.
func (d *Directory) RemoveMember(ctx context.Context, c Call, groupID string, p schemas.Principal) (*Item, error) {
	return d.groups.updatePart(ctx, c, groupID, "members[0]", func(_ *writeContext, g *schemas.Group) { g.Members = removePrincipal(g.Members, p) })
}

func checkGroup(w *writeContext, old, g *schemas.Group) {
	was := orZero(old)
	checkName(w, was.Name, g.Name)
	checkUnique(w, store.Groups(), "name", g.Name, was.ID)
	checkExists(w, store.Units(), "ouId", g.OUID)
	checkPrincipals(w, "members", was.Members, g.Members, schemas.UserPrincipal, schemas.GroupPrincipal)
	checkNesting(w, was.ID, g.Members)
	g.Members = sortedPrincipals(g.Members)
	if old != nil { // a new group has no permissions
		w.guardGroup(was, g)
	}
}

// guardGroup refuses a change of a group's members or name to a caller who lacks a
// permission of the group. Files refer to groups by name: a caller who renamed the group of
// administrators could give its name to another group, which the next file would then fill.
func (w *writeContext) guardGroup(was, g *schemas.Group) {
	group := schemas.Principal{Type: schemas.GroupPrincipal, ID: was.ID}
	switch {
	case !slices.Equal(g.Members, was.Members):
		w.requireOf("members", "the group", group)
	case g.Name != was.Name:
		w.requireOf("name", "the group", group)
	}
}

// checkNesting refuses members that contain the group with the id.
func checkNesting(w *writeContext, id string, members []schemas.Principal) {
	if id == "" {
		return // no group contains a new one
	}
	above, err := store.GroupsAbove(w.ctx, w.tx, id)
	w.fail(err)
	above = append(above, id)
	for i, m := range members {
		if m.Type == schemas.GroupPrincipal && slices.Contains(above, m.ID) {
			w.addInvalid(fmt.Sprintf("members[%d].id", i),
				"the group %s would contain itself through this one; a group cannot have a member that contains it", id)
		}
	}
}
