package store

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

// FlowTable stores flows as resources, with all their versions. It is read through a Reader
// and written through a Tx.
type FlowTable struct{ *Table[schemas.Flow] }

// Flows is the table of the flows. Reading it returns their active versions.
func Flows() FlowTable {
	return FlowTable{&Table[schemas.Flow]{
		noun: "flow", code: schemas.CodeFlowNotFound, name: "flows",
		columns: []string{flowColumns}, join: joinActive, scan: scanFlow,
		filters: map[string]string{"flowType": "flow_type = ?", "handle": "flows.handle = ?"},
	}}
}

// FlowVersion is one version of a flow, without its definition.
type FlowVersion struct {
	Version      int
	Name, Handle string
	CreatedAt    time.Time
	Active       bool
}

// Find returns the active version of the flow with the handle, nil if there is none.
func (of FlowTable) Find(ctx context.Context, r Reader, t schemas.FlowType, handle string) (*schemas.Flow, error) {
	found, err := of.where(ctx, r, "flow_type = ? AND flows.handle = ?", string(t), handle)
	return firstOf(found), err
}

// Versions returns one page of the versions of a flow, newest first.
func (FlowTable) Versions(ctx context.Context, r Reader, id string, p Page) ([]FlowVersion, error) {
	return readAll(ctx, r, func(row scanner, v *FlowVersion) error {
		return row.Scan(&v.Version, &v.Name, &v.Handle, (*microTime)(&v.CreatedAt), &v.Active)
	}, `SELECT v.version, v.name, v.handle, v.created_at, v.version = f.active_version FROM flows f
		JOIN flow_versions v ON v.flow_id = f.id WHERE f.id = ? ORDER BY v.version DESC LIMIT ? OFFSET ?`, id, p.Limit, p.Offset)
}

// Version returns a version of a flow. ActiveVersion is its number and UpdatedAt its creation
// time. If there is none, the error is flow_not_found, Class NotFound.
func (FlowTable) Version(ctx context.Context, r Reader, id string, n int) (*schemas.Flow, error) {
	found, err := readAll(ctx, r, scanFlow, selectFlowVersion, id, n)
	if err == nil && len(found) == 0 {
		err = errNoVersion(id, n)
	}
	return firstOf(found), err
}

// Insert adds a flow with version 1, or with the number that follows those of a deleted flow
// with the same ID. It sets f.ActiveVersion. A handle that another flow of the type has is
// flow_exists, Class Conflict.
func (FlowTable) Insert(t *Tx, f *schemas.Flow) (err error) {
	f.ActiveVersion, err = t.createFlow(f)
	return err
}

// Replace adds the next version of a flow and activates it if the active one is still was;
// otherwise the error has Class Precondition. It sets f.ActiveVersion, and f.UpdatedAt to a
// time after all earlier versions. Earlier versions stay, and their runs continue on them.
func (FlowTable) Replace(t *Tx, f *schemas.Flow, was int) error {
	var last time.Time
	var active int
	err := rows(t.ctx, t, func(row scanner) error { return row.Scan(&active, (*microTime)(&last)) },
		"SELECT f.active_version, v.created_at FROM flows f JOIN flow_versions v ON v.flow_id = f.id AND v.version = f.last_version WHERE f.id = ?", f.ID)
	if err != nil {
		return err
	}
	if active != was {
		return Flows().errStale()
	}
	at := timeOr(f.UpdatedAt)
	if !at.After(last) {
		at = last.Add(time.Microsecond)
	}
	f.UpdatedAt = &at
	f.ActiveVersion, err = t.addFlowVersion(f)
	return err
}

// Delete removes a flow with all its versions if the active one is still was; otherwise the
// error has Class Precondition. It ends the flow's unfinished runs. The last version number
// stays stored, because no number may be reused.
func (FlowTable) Delete(t *Tx, id string, was int) error {
	if _, err := t.exec("DELETE FROM deleted_flows WHERE id = ?", id); err != nil {
		return err
	}
	if _, err := t.exec("INSERT INTO deleted_flows (id, last_version) SELECT id, last_version FROM flows WHERE id = ?", id); err != nil {
		return err
	}
	err := t.change(Flows().errStale, "DELETE FROM flows WHERE id = ? AND active_version = ?", id, was)
	if isForeignKeyViolation(err) {
		return schemas.Errorf(schemas.Conflict, schemas.CodeInUse, "An application uses the flow. Give it another first.")
	}
	if err != nil {
		return err
	}
	_, err = t.exec("DELETE FROM runs WHERE flow_id = ? AND status = ?", id, string(schemas.Incomplete))
	return err
}
