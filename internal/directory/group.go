package directory

import (
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func (d *Directory) groups() Resource {
	table := store.Groups()
	return &collection[schemas.Group]{
		d: d, table: table,
		noun: Noun{
			Name: "group", Plural: "groups", Path: "/groups",
			Read: "system:groups:read", Write: "system:groups:write",
			Schema: schemas.GroupSchema, Key: "name", Filters: table.Filters(),
			administers: true,
		},
		meta:     func(g *schemas.Group) meta { return meta{&g.ID, &g.CreatedAt, &g.UpdatedAt} },
		complete: func(w *work, _, g *schemas.Group) error { return defaultUnit(w, &g.OUID) },
		check:    checkGroup,
		remove:   func(w *work, g *schemas.Group) error { return w.uses("group", g.ID) },
	}
}

func checkGroup(w *work, old, g *schemas.Group) error {
	if err := unique(w, store.Groups(), "name", g.Name, idOf(old, func(o *schemas.Group) string { return o.ID })); err != nil {
		return err
	}
	return exists(w, store.Units(), "ouId", g.OUID)
}
