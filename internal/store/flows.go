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
	flowColumns = `flows.id, flow_type, read_only, flows.created_at, v.version, v.handle, v.name, v.definition, v.parts, v.created_at`
	joinActive  = `JOIN flow_versions v ON v.flow_id = flows.id AND v.version = flows.active_version`

	selectFlowVersion   = `SELECT ` + flowColumns + ` FROM flows JOIN flow_versions v ON v.flow_id = flows.id WHERE v.flow_id = ? AND v.version = ?`
	selectActiveVersion = `SELECT active_version FROM flows WHERE id = ?`

	insertFlow = `INSERT INTO flows (id, flow_type, handle, active_version, last_version, read_only, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

	selectFormerVersion = `SELECT last_version FROM deleted_flows WHERE id = ?`

	insertFlowVersion = `INSERT INTO flow_versions (flow_id, version, handle, name, definition, parts, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`

	// The number follows the last version, because the active one may be older.
	advanceFlow = `UPDATE flows SET last_version = last_version + 1, active_version = last_version + 1,
		handle = ?, read_only = ? WHERE id = ? AND flow_type = ?
		AND NOT EXISTS (SELECT 1 FROM flows o WHERE o.flow_type = flows.flow_type AND o.handle = ? AND o.id <> flows.id)
		RETURNING last_version`

	selectFlowClash = `SELECT flow_type FROM flows WHERE id = ?`
)

// ActiveVersion returns the number of a flow's active version, without reading
// its definition; an unknown flow is flow_not_found.
func (s *Store) ActiveVersion(ctx context.Context, id string) (version int, err error) {
	err = s.row(ctx, selectActiveVersion, id).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, errNoFlow(id)
	}
	return version, err
}

// FlowVersion returns a version of a flow. ActiveVersion is its number and UpdatedAt its
// creation time. An unknown one is flow_not_found, Class NotFound.
func (s *Store) FlowVersion(ctx context.Context, id string, version int) (*schemas.Flow, error) {
	return readOne(s.row(ctx, selectFlowVersion, id, version), scanFlow, func() error { return errNoVersion(id, version) })
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
func (t *Tx) createFlow(f *schemas.Flow) (version int, err error) {
	former, err := readValue[int](t.ctx, t, selectFormerVersion, f.ID)
	if err != nil {
		return 0, err
	}
	version = former + 1
	created := timeOr(f.CreatedAt)
	err = t.change(func() error { return errFlowExists(f) }, insertFlow,
		f.ID, string(f.FlowType), f.Handle, version, version, f.IsReadOnly, toMicros(created))
	if err != nil {
		return 0, err
	}
	return version, t.insertFlowVersion(f, version, created)
}

func errFlowExists(f *schemas.Flow) error {
	return schemas.Errorf(schemas.Conflict, "flow_exists",
		"There is another %s flow with the handle %q (or the same id). Choose another handle.", f.FlowType, f.Handle).
		WithProblems([]schemas.Problem{{Path: "handle", Message: fmt.Sprintf("%q is taken", f.Handle)}})
}

func (t *Tx) addFlowVersion(f *schemas.Flow) (version int, err error) {
	err = t.row(advanceFlow, f.Handle, f.IsReadOnly, f.ID, string(f.FlowType), f.Handle).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, t.flowClash(f)
	}
	if isUniqueViolation(err) {
		return 0, errFlowExists(f)
	}
	if err != nil {
		return 0, err
	}
	return version, t.insertFlowVersion(f, version, timeOr(f.UpdatedAt))
}

// flowClash returns the reason why a version could not be added.
func (t *Tx) flowClash(f *schemas.Flow) error {
	flowType, err := readOne(t.row(selectFlowClash, f.ID), scanValue[string], func() error { return errNoFlow(f.ID) })
	switch {
	case err != nil:
		return err
	case *flowType != string(f.FlowType):
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidFlow,
			"The flow is of type %s, which cannot become %s. Make a new flow.", *flowType, f.FlowType)
	}
	return errFlowExists(f)
}

func (t *Tx) insertFlowVersion(f *schemas.Flow, version int, at time.Time) error {
	parts := partsOf(f.Parts)
	_, err := t.exec(insertFlowVersion, f.ID, version, f.Handle, f.Name, asJSON(definitionOf(f)), jsonColumn{parts, len(parts) == 0}, toMicros(at))
	if err != nil {
		return err
	}
	return t.insertFlowUses(f, version)
}

func scanFlow(row scanner, f *schemas.Flow) error {
	var d definition
	var parts map[string]flowPart
	f.CreatedAt, f.UpdatedAt = new(time.Time), new(time.Time)
	err := row.Scan(&f.ID, (*string)(&f.FlowType), &f.IsReadOnly, (*microTime)(f.CreatedAt), &f.ActiveVersion, &f.Handle, &f.Name,
		asJSON(&d), asJSON(&parts), (*microTime)(f.UpdatedAt))
	d.of(f)
	f.Parts = flowsOf(parts)
	f.Uses = schemas.UsesOf(f.Parts)
	return err
}

// timeOr returns the time, or now if it is nil.
func timeOr(t *time.Time) time.Time {
	if t == nil {
		return time.Now()
	}
	return *t
}
