package main

import (
	"context"
	"slices"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// sortByUse sorts flows so that each comes after the sub-flows that it uses, and otherwise
// keeps the order.
func sortByUse(graphs []*engine.Graph) []*engine.Graph {
	byHandle := map[string]*engine.Graph{}
	for _, g := range graphs {
		if f := g.Flow(); f.FlowType == schemas.Subflow {
			byHandle[f.Handle] = g
		}
	}
	var sorted []*engine.Graph
	var visit func(g *engine.Graph)
	visit = func(g *engine.Graph) {
		if g == nil || slices.Contains(sorted, g) {
			return
		}
		for _, u := range schemas.UsesOf(g.Flow().Parts) { // has no cycles: the flows have been compiled
			visit(byHandle[u.Handle])
		}
		sorted = append(sorted, g)
	}
	for _, g := range graphs {
		visit(g)
	}
	return sorted
}

// subflowVersions are the active versions of a server's sub-flows that have been read so
// far, by handle.
type subflowVersions map[string]schemas.Use

// recordVersion records the server's version.
func (v subflowVersions) recordVersion(f *schemas.Flow) {
	if f.FlowType == schemas.Subflow {
		v[f.Handle] = schemas.Use{Handle: f.Handle, ID: f.ID, Version: f.ActiveVersion}
	}
}

// expectVersion records that a sub-flow would have a next version.
func (v subflowVersions) expectVersion(f *schemas.Flow) {
	if known, ok := v[f.Handle]; ok && f.FlowType == schemas.Subflow {
		known.Version++
		v[f.Handle] = known
	}
}

// uses returns which versions of sub-flows a flow will use on a server. It omits those that
// the server does not have.
func (v subflowVersions) uses(ctx context.Context, server *bootstrap.FlowServer, f *schemas.Flow) (list []schemas.Use, err error) {
	for _, u := range schemas.UsesOf(f.Parts) {
		if _, known := v[u.Handle]; !known {
			stored, err := server.Find(ctx, schemas.Subflow, u.Handle)
			if err != nil {
				return nil, err
			}
			if stored != nil {
				v.recordVersion(stored.Flow)
			}
		}
		if use, known := v[u.Handle]; known {
			list = append(list, use)
		}
	}
	return list, nil
}
