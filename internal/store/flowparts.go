package store

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

const insertFlowUse = `INSERT INTO flow_uses (flow_id, version, used_id, used_version) VALUES (?, ?, ?, ?)`

// definition is the content of a flow's JSON column.
type definition struct {
	Guarantees schemas.Guarantees `json:"guarantees,omitzero"`
	Requires   schemas.Requires   `json:"requires,omitzero"`
	Outcomes   map[string]string  `json:"outcomes,omitempty"`
	Waive      []schemas.Waiver   `json:"waive,omitempty"`
	Nodes      []schemas.Node     `json:"nodes"`
}

func definitionOf(f *schemas.Flow) definition {
	return definition{f.Guarantees, f.Requires, f.Outcomes, f.Waive, f.Nodes}
}

func (d definition) of(f *schemas.Flow) {
	f.Guarantees, f.Requires, f.Outcomes, f.Waive, f.Nodes = d.Guarantees, d.Requires, d.Outcomes, d.Waive, d.Nodes
}

// flowPart is a sub-flow as stored with a flow that uses it.
type flowPart struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
	Name    string `json:"name"`
	definition
	Parts map[string]flowPart `json:"parts,omitempty"`
}

// partsOf returns the stored form of sub-flows, by handle.
func partsOf(flows map[string]*schemas.Flow) map[string]flowPart {
	if len(flows) == 0 {
		return nil
	}
	parts := map[string]flowPart{}
	for handle, f := range flows {
		parts[handle] = flowPart{f.ID, f.ActiveVersion, f.Name, definitionOf(f), partsOf(f.Parts)}
	}
	return parts
}

// flowsOf returns the sub-flows of their stored form.
func flowsOf(parts map[string]flowPart) map[string]*schemas.Flow {
	if len(parts) == 0 {
		return nil
	}
	flows := map[string]*schemas.Flow{}
	for handle, p := range parts {
		f := &schemas.Flow{ID: p.ID, Handle: handle, Name: p.Name, FlowType: schemas.Subflow, ActiveVersion: p.Version, Parts: flowsOf(p.Parts)}
		p.of(f)
		f.Uses = schemas.UsesOf(f.Parts)
		flows[handle] = f
	}
	return flows
}

// insertFlowUses records the sub-flows that a version uses.
func (t *Tx) insertFlowUses(f *schemas.Flow, version int) error {
	for _, u := range schemas.UsesOf(f.Parts) {
		if _, err := t.exec(insertFlowUse, f.ID, version, u.ID, u.Version); err != nil {
			return err
		}
	}
	return nil
}

// Users returns the flows whose active versions use a sub-flow, ordered by handle.
func (FlowTable) Users(ctx context.Context, r Reader, id string) ([]schemas.SubflowUser, error) {
	return readAll(ctx, r, func(row scanner, u *schemas.SubflowUser) error {
		return row.Scan(&u.ID, &u.Handle, (*string)(&u.FlowType), &u.Version)
	}, `SELECT f.id, f.handle, f.flow_type, u.used_version FROM flow_uses u
		JOIN flows f ON f.id = u.flow_id AND f.active_version = u.version WHERE u.used_id = ? ORDER BY f.handle, f.id`, id)
}
