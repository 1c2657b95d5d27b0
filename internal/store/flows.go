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

	updateVersionAuthor = `UPDATE flow_versions SET author_type = ?, author_id = ?, author_client = ?, reason = ? WHERE flow_id = ? AND version = ?`

	// The status is literal, because the index runs_open_flow is partial.
	selectVersions = `SELECT v.version, v.name, v.handle, v.created_at, v.version = f.active_version,
		v.author_type, v.author_id, v.author_client, v.reason,
		(SELECT COUNT(*) FROM runs r WHERE r.flow_id = v.flow_id AND r.flow_version = v.version AND r.status = 'INCOMPLETE' AND r.expires_at > ?)
		FROM flows f JOIN flow_versions v ON v.flow_id = f.id WHERE f.id = ? ORDER BY v.version DESC LIMIT ? OFFSET ?`
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

// FlowWasDeleted reports whether a flow with the id was deleted.
func FlowWasDeleted(ctx context.Context, r Reader, id string) (bool, error) {
	return readValue[bool](ctx, r, "SELECT EXISTS (SELECT 1 FROM deleted_flows WHERE id = ?)", id)
}

// FlowVersion returns a version of a flow. ActiveVersion is its number and UpdatedAt its
// creation time. An unknown one is flow_not_found, Class NotFound.
func (s *Store) FlowVersion(ctx context.Context, id string, version int) (*schemas.Flow, error) {
	return readOne(s.row(ctx, selectFlowVersion, id, version), scanFlow, func() error { return errNoVersion(id, version) })
}

func errNoFlow(id string) error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeFlowNotFound, "there is no flow with the id %.64q", id)
}

func errNoVersion(id string, n int) error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeFlowNotFound,
		"the flow %.64q has no version %d; GET /flows/{id}/versions lists the versions of a flow", id, n)
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
		"there is another %s flow with the handle %q (or the same id); choose another handle", f.FlowType, f.Handle).
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
			"the flow is of type %s, which cannot become %s; create a new flow", *flowType, f.FlowType)
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

// FlowTable stores flows as resources, with all their versions. It is read through a Reader
// and written through a Tx.
type FlowTable struct{ *Table[schemas.Flow] }

// Flows is the table of the flows. Reading it returns their active versions.
func Flows() FlowTable {
	return FlowTable{&Table[schemas.Flow]{
		noun: "flow", code: schemas.CodeFlowNotFound, name: "flows",
		columns: []string{flowColumns}, join: joinActive, scan: scanFlow, id: func(f *schemas.Flow) string { return f.ID },
		filters:  map[string]string{"flowType": "flow_type = ?", "handle": "flows.handle = ?"},
		prefixes: map[string]prefixIndex{"handle": {table: "flows", column: "handle", id: "id", order: "handle, id"}},
	}}
}

// FlowVersion is one version of a flow, without its definition. Author is the zero value for a
// version from before authors were recorded. OpenRuns counts its runs that are neither finished
// nor expired.
type FlowVersion struct {
	Version      int
	Name, Handle string
	CreatedAt    time.Time
	Active       bool
	Author       schemas.Actor
	Reason       string
	OpenRuns     int
}

// Find returns the active version of the flow with the handle, nil if there is none.
func (of FlowTable) Find(ctx context.Context, r Reader, t schemas.FlowType, handle string) (*schemas.Flow, error) {
	found, err := of.where(ctx, r, "flow_type = ? AND flows.handle = ?", string(t), handle)
	return firstOf(found), err
}

// SetAuthor records the actor that stored a version, and its reason; "" for none.
func (FlowTable) SetAuthor(t *Tx, id string, version int, author schemas.Actor, reason string) error {
	_, err := t.exec(updateVersionAuthor, string(author.Type), author.ID, author.Client, reason, id, version)
	return err
}

// Versions returns one page of the versions of a flow, newest first, with the runs that are open
// now.
func (FlowTable) Versions(ctx context.Context, r Reader, id string, now time.Time, p Page) ([]FlowVersion, error) {
	return readAll(ctx, r, func(row scanner, v *FlowVersion) error {
		return row.Scan(&v.Version, &v.Name, &v.Handle, (*microTime)(&v.CreatedAt), &v.Active,
			(*string)(&v.Author.Type), &v.Author.ID, &v.Author.Client, &v.Reason, &v.OpenRuns)
	}, selectVersions, toMicros(now), id, p.Limit, p.Offset)
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
	if f.ActiveVersion, err = t.createFlow(f); err != nil {
		return err
	}
	CountSystemChange(t)
	return nil
}

// Replace adds the next version of a flow and activates it if the active version equals was;
// otherwise the error has Class Precondition. It sets f.ActiveVersion, and f.UpdatedAt to a time
// after all earlier versions. Earlier versions stay, and their runs continue on them.
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
	if f.ActiveVersion, err = t.addFlowVersion(f); err != nil {
		return err
	}
	CountSystemChange(t)
	return nil
}

// Delete removes a flow with all its versions if the active version equals was; otherwise the error
// has Class Precondition. It ends the flow's unfinished runs. The last version number stays stored,
// because no number may be reused.
func (FlowTable) Delete(t *Tx, id string, was int) error {
	if _, err := t.exec("DELETE FROM deleted_flows WHERE id = ?", id); err != nil {
		return err
	}
	if _, err := t.exec("INSERT INTO deleted_flows (id, last_version) SELECT id, last_version FROM flows WHERE id = ?", id); err != nil {
		return err
	}
	err := t.change(Flows().errStale, "DELETE FROM flows WHERE id = ? AND active_version = ?", id, was)
	if isForeignKeyViolation(err) {
		return schemas.Errorf(schemas.Conflict, schemas.CodeInUse, "an application uses the flow; assign another flow to it first")
	}
	if err != nil {
		return err
	}
	if _, err = t.exec("DELETE FROM runs WHERE flow_id = ? AND status = ?", id, string(schemas.Incomplete)); err != nil {
		return err
	}
	CountSystemChange(t)
	return nil
}
