package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// FlowTable stores flows as resources, with all their versions. It is read through a Reader
// and written through a Tx.
type FlowTable struct{}

// Flows is the table of the flows.
func Flows() FlowTable { return FlowTable{} }

// FlowVersion is one version of a flow, without its definition.
type FlowVersion struct {
	Version      int
	Name, Handle string
	CreatedAt    time.Time
	Active       bool
}

// Filters lists the members that a list can be filtered by, sorted.
func (FlowTable) Filters() []string { return []string{"flowType", "handle"} }

// Get returns the active version of the flow with the id. If there is none, the
// error is flow_not_found, Class NotFound.
func (FlowTable) Get(ctx context.Context, r Reader, id string) (*schemas.Flow, error) {
	found, err := flowsWhere(ctx, r, activeFlows+" WHERE f.id = ?", id)
	if err == nil && len(found) == 0 {
		err = errNoFlow(id)
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// Find returns the active version of the flow with the handle, nil if there is none.
func (FlowTable) Find(ctx context.Context, r Reader, t schemas.FlowType, handle string) (*schemas.Flow, error) {
	found, err := flowsWhere(ctx, r, activeFlows+" WHERE f.flow_type = ? AND f.handle = ?", string(t), handle)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// List returns one page of the flows, in their active versions.
func (FlowTable) List(ctx context.Context, r Reader, p Page) ([]schemas.Flow, error) {
	condition, args, err := flowCondition(p)
	if err != nil {
		return nil, err
	}
	return flowsWhere(ctx, r, activeFlows+condition+" ORDER BY f.id LIMIT ? OFFSET ?", append(args, p.Limit, p.Offset)...)
}

// Count returns the number of flows in the list that a page belongs to.
func (FlowTable) Count(ctx context.Context, r Reader, p Page) (n int, err error) {
	p.After = ""
	condition, args, err := flowCondition(p)
	if err != nil || !isStorable(p.Value) {
		return 0, err
	}
	return n, rows(ctx, r, func(row scanner) error { return row.Scan(&n) }, "SELECT COUNT(*) FROM flows f"+condition, args...)
}

func flowCondition(p Page) (condition string, args []any, err error) {
	switch p.Member {
	case "":
		return " WHERE f.id > ?", []any{p.After}, nil
	case "flowType":
		return " WHERE f.flow_type = ? AND f.id > ?", []any{p.Value, p.After}, nil
	case "handle":
		return " WHERE f.handle = ? AND f.id > ?", []any{p.Value, p.After}, nil
	}
	return "", nil, fmt.Errorf("store: flows cannot be found by %q: expected one of %q", p.Member, Flows().Filters())
}

func flowsWhere(ctx context.Context, r Reader, from string, args ...any) (found []schemas.Flow, err error) {
	if slices.ContainsFunc(args, isUnstorable) {
		return nil, nil
	}
	err = rows(ctx, r, func(row scanner) error {
		f, err := scanFlow(row)
		if err == nil {
			found = append(found, *f)
		}
		return err
	}, "SELECT "+flowColumns+from, args...)
	if err != nil {
		return nil, fmt.Errorf("reading flows: %w", err)
	}
	return found, nil
}

// Versions returns one page of the versions of a flow, newest first.
func (FlowTable) Versions(ctx context.Context, r Reader, id string, p Page) (versions []FlowVersion, err error) {
	if !isStorable(id) {
		return nil, nil
	}
	err = rows(ctx, r, func(row scanner) error {
		var v FlowVersion
		err := row.Scan(&v.Version, &v.Name, &v.Handle, (*microTime)(&v.CreatedAt), &v.Active)
		versions = append(versions, v)
		return err
	}, `SELECT v.version, v.name, v.handle, v.created_at, v.version = f.active_version FROM flows f
		JOIN flow_versions v ON v.flow_id = f.id WHERE f.id = ? ORDER BY v.version DESC LIMIT ? OFFSET ?`, id, p.Limit, p.Offset)
	if err != nil {
		return nil, fmt.Errorf("reading the versions of a flow: %w", err)
	}
	return versions, nil
}

// Version returns a version of a flow. ActiveVersion is its number and UpdatedAt its creation
// time. If there is none, the error is flow_not_found, Class NotFound.
func (FlowTable) Version(ctx context.Context, r Reader, id string, n int) (*schemas.Flow, error) {
	found, err := flowsWhere(ctx, r, ofVersion, id, n)
	if err == nil && len(found) == 0 {
		err = errNoVersion(id, n)
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// Insert adds a flow with version 1, or with the number that follows those of a deleted flow
// with the same ID. It sets f.ActiveVersion. A handle that another flow of the type has is
// flow_exists, Class Conflict.
func (FlowTable) Insert(t *Tx, f *schemas.Flow) (err error) {
	f.ActiveVersion, err = t.tx.createFlow(f)
	return err
}

// Replace adds the next version of a flow and activates it if the active one is still was;
// otherwise the error has Class Precondition. It sets f.ActiveVersion, and f.UpdatedAt to a
// time after all earlier versions. Earlier versions stay, and their runs continue on them.
func (FlowTable) Replace(t *Tx, f *schemas.Flow, was int) error {
	var last time.Time
	var active int
	err := rows(t.tx.ctx, t, func(row scanner) error { return row.Scan(&active, (*microTime)(&last)) },
		"SELECT f.active_version, v.created_at FROM flows f JOIN flow_versions v ON v.flow_id = f.id AND v.version = f.last_version WHERE f.id = ?", f.ID)
	if err != nil {
		return err
	}
	if active != was {
		return errFlowChanged()
	}
	at := timeOr(f.UpdatedAt)
	if !at.After(last) {
		at = last.Add(time.Microsecond)
	}
	f.UpdatedAt = &at
	f.ActiveVersion, err = t.tx.addFlowVersion(f)
	return err
}

// Delete removes a flow with all its versions if the active one is still was; otherwise the
// error has Class Precondition. It ends the flow's unfinished runs. The last version number
// stays stored, because no number may be reused.
func (FlowTable) Delete(t *Tx, id string, was int) error {
	if _, err := t.exec("DELETE FROM deleted_flows WHERE id = ?", id); err != nil {
		return fmt.Errorf("store: deleting a flow: %w", err)
	}
	if _, err := t.exec("INSERT INTO deleted_flows (id, last_version) SELECT id, last_version FROM flows WHERE id = ?", id); err != nil {
		return fmt.Errorf("store: deleting a flow: %w", err)
	}
	n, err := t.exec("DELETE FROM flows WHERE id = ? AND active_version = ?", id, was)
	if isForeignKeyViolation(err) {
		return schemas.Errorf(schemas.Conflict, schemas.CodeInUse, "An application uses the flow. Give it another first.")
	}
	if err != nil {
		return fmt.Errorf("store: deleting a flow: %w", err)
	}
	if n == 0 {
		return errFlowChanged()
	}
	_, err = t.exec("DELETE FROM runs WHERE flow_id = ? AND status = ?", id, string(schemas.Incomplete))
	if err != nil {
		return fmt.Errorf("store: ending the runs of a flow: %w", err)
	}
	return nil
}

func errFlowChanged() error {
	return schemas.Errorf(schemas.Precondition, schemas.CodePreconditionFailed,
		"The flow has changed since it was read. Read it again, and make the change to what it is now.")
}
