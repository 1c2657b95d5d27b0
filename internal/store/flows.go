package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	flowColumns = `f.id, f.flow_type, f.read_only, f.created_at, v.version, v.handle, v.name, v.definition, v.parts, v.created_at`
	activeFlows = ` FROM flows f JOIN flow_versions v ON v.flow_id = f.id AND v.version = f.active_version`
	ofVersion   = ` FROM flows f JOIN flow_versions v ON v.flow_id = f.id WHERE v.flow_id = ? AND v.version = ?`

	selectFlowVersion   query = `SELECT ` + flowColumns + ofVersion
	selectActiveVersion query = `SELECT active_version FROM flows WHERE id = ?`

	insertFlow query = `INSERT INTO flows (id, flow_type, handle, active_version, last_version, read_only, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

	selectFormerVersion query = `SELECT last_version FROM deleted_flows WHERE id = ?`

	insertFlowVersion query = `INSERT INTO flow_versions (flow_id, version, handle, name, definition, parts, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`

	// The number follows the last version, because the active one may be older.
	advanceFlow query = `UPDATE flows SET last_version = last_version + 1, active_version = last_version + 1,
		handle = ?, read_only = ? WHERE id = ? AND flow_type = ?
		AND NOT EXISTS (SELECT 1 FROM flows o WHERE o.flow_type = flows.flow_type AND o.handle = ? AND o.id <> flows.id)
		RETURNING last_version`

	selectFlowClash query = `SELECT flow_type FROM flows WHERE id = ?`
)

// ActiveVersion returns the number of a flow's active version, without reading
// its definition; an unknown flow is flow_not_found.
func (s *Store) ActiveVersion(ctx context.Context, id string) (version int, err error) {
	if !isStorable(id) {
		return 0, errNoFlow(id)
	}
	switch err := s.row(ctx, selectActiveVersion, id).Scan(&version); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, errNoFlow(id)
	case err != nil:
		return 0, fmt.Errorf("store: reading a flow's active version: %w", err)
	}
	return version, nil
}

// FlowVersion returns a version of a flow. ActiveVersion is its number and UpdatedAt its
// creation time. An unknown one is flow_not_found, Class NotFound.
func (s *Store) FlowVersion(ctx context.Context, id string, version int) (*schemas.Flow, error) {
	unknown := errNoVersion(id, version)
	if !isStorable(id) {
		return nil, unknown
	}
	f, err := scanFlow(s.row(ctx, selectFlowVersion, id, version))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, unknown
	}
	if err != nil {
		return nil, fmt.Errorf("store: reading a flow: %w", err)
	}
	return f, nil
}

func errNoFlow(id string) error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeFlowNotFound, "There is no flow with the id %.64q.", id)
}

func errNoVersion(id string, n int) error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeFlowNotFound,
		"There is no version %d of a flow with the id %.64q. The list of its versions has those there are.", n, id)
}

// createFlow adds a flow with its first version. The number follows those of a deleted flow
// with the same ID: an ID and a number identify one definition forever, and caches rely on
// that.
func (t *tx) createFlow(f *schemas.Flow) (version int, err error) {
	err = t.row(selectFormerVersion, f.ID).Scan(&version)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("store: looking for a flow that had the id: %w", err)
	}
	version++
	created := timeOr(f.CreatedAt)
	n, err := t.exec(insertFlow, f.ID, string(f.FlowType), f.Handle, version, version, f.IsReadOnly, toMicros(created))
	if err != nil {
		return 0, fmt.Errorf("store: creating a flow: %w", err)
	}
	if n == 0 {
		return 0, errFlowExists(f)
	}
	return version, t.insertFlowVersion(f, version, created)
}

func errFlowExists(f *schemas.Flow) error {
	return schemas.Errorf(schemas.Conflict, "flow_exists",
		"There is another %s flow with the handle %q (or the same id). Choose another handle.", f.FlowType, f.Handle).
		WithProblems([]schemas.Problem{{Path: "handle", Message: fmt.Sprintf("%q is taken", f.Handle)}})
}

func (t *tx) addFlowVersion(f *schemas.Flow) (version int, err error) {
	err = t.row(advanceFlow, f.Handle, f.IsReadOnly, f.ID, string(f.FlowType), f.Handle).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, t.flowClash(f)
	}
	if isUniqueViolation(err) {
		return 0, errFlowExists(f)
	}
	if err != nil {
		return 0, fmt.Errorf("store: adding a version of a flow: %w", err)
	}
	return version, t.insertFlowVersion(f, version, timeOr(f.UpdatedAt))
}

// flowClash returns the reason why a version could not be added.
func (t *tx) flowClash(f *schemas.Flow) error {
	var flowType string
	err := t.row(selectFlowClash, f.ID).Scan(&flowType)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return errNoFlow(f.ID)
	case err != nil:
		return fmt.Errorf("store: looking for the flow in the way: %w", err)
	case flowType != string(f.FlowType):
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidFlow,
			"The flow is of type %s, which cannot become %s. Make a new flow.", flowType, f.FlowType)
	}
	return errFlowExists(f)
}

func (t *tx) insertFlowVersion(f *schemas.Flow, version int, at time.Time) error {
	text, err := marshalJSON(definitionOf(f))
	if err != nil {
		return err
	}
	parts, err := optionalJSON(partsOf(f.Parts))
	if err != nil {
		return err
	}
	if _, err := t.exec(insertFlowVersion, f.ID, version, f.Handle, f.Name, text, parts, toMicros(at)); err != nil {
		return fmt.Errorf("store: adding a version of a flow: %w", err)
	}
	return t.insertFlowUses(f, version)
}

func scanFlow(row scanner) (*schemas.Flow, error) {
	var f schemas.Flow
	var text, kept []byte
	var created, updated int64
	err := row.Scan(&f.ID, (*string)(&f.FlowType), &f.IsReadOnly, &created, &f.ActiveVersion, &f.Handle, &f.Name,
		&text, &kept, &updated)
	if err != nil {
		return nil, err
	}
	var d definition
	if err := parse(text, &d); err != nil {
		return nil, err
	}
	d.of(&f)
	var parts map[string]flowPart
	if err := parse(kept, &parts); err != nil {
		return nil, err
	}
	f.Parts = flowsOf(parts)
	f.Uses = schemas.UsesOf(f.Parts)
	createdAt, updatedAt := fromMicros(created), fromMicros(updated)
	f.CreatedAt, f.UpdatedAt = &createdAt, &updatedAt
	return &f, nil
}

// timeOr returns the time, or now if it is nil.
func timeOr(t *time.Time) time.Time {
	if t == nil {
		return time.Now()
	}
	return *t
}
