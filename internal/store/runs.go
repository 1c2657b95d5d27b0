package store

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

const (
	selectRun = `SELECT id, revision, status, flow_id, flow_version, application_id, user_id, node, state,
		created_at, updated_at, expires_at FROM runs WHERE id = ?`

	insertRun = `INSERT INTO runs (id, revision, status, flow_id, flow_version, application_id, user_id, node,
		state, created_at, updated_at, expires_at) VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING`

	updateRun = `UPDATE runs SET revision = revision + 1, status = ?, user_id = ?, node = ?, state = ?,
		updated_at = ?, expires_at = ? WHERE id = ? AND revision = ?`
)

// Run returns the run as last committed, including a completed or expired one, which the
// engine checks. An unknown one is execution_not_found, Class Invalid.
func (s *Store) Run(ctx context.Context, id string) (*schemas.Run, error) {
	if kept, named := aheadOf(ctx), schemas.NamedBy(ctx).Passkey; kept != nil && named != nil {
		if run, err := s.readRunWithPasskey(ctx, kept, id, named); run != nil || err != nil {
			return run, err
		}
	}
	return readWithApplication(ctx, s, selectRun, selectRunAhead, id, runDestinations, errNoRun)
}

func runDestinations(r *schemas.Run) []any {
	return []any{&r.ID, &r.Revision, (*string)(&r.Status), &r.FlowID, &r.FlowVersion, &r.ApplicationID, &r.UserID,
		&r.Node, (*[]byte)(&r.State), (*microTime)(&r.CreatedAt), (*microTime)(&r.UpdatedAt), (*microTime)(&r.ExpiresAt)}
}

func errNoRun() error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeExecutionNotFound,
		"there is no run with this executionId, or it is over; start the flow again")
}

// Commit stores the next revision of a run and the changes of its step atomically.
// run.Revision is the new revision: 1 adds the run, n+1 replaces revision n. If the stored
// revision differs, the error is stale_step, Class Conflict, and nothing is changed. The
// initial data of a run (flow, version, application and time) never changes.
func (s *Store) Commit(ctx context.Context, run *schemas.Run, changes []schemas.Change) error {
	if run.Revision < 1 {
		return fmt.Errorf("store: revision %d of run %s: revisions count from 1", run.Revision, run.Digest())
	}
	if len(changes) == 0 {
		return s.writer.single(ctx, func(t *Tx) error { return t.putRun(run) })
	}
	return s.writer.write(ctx, func(t *Tx) error {
		t.actor = actorOf(run.ID, changes)
		t.enterSession(changes)
		if err := t.lockFirst(changes); err != nil {
			return err
		}
		if err := t.putRun(run); err != nil {
			return err
		}
		return t.Apply(changes)
	})
}

// Apply applies changes that belong to no run, atomically.
func (s *Store) Apply(ctx context.Context, changes []schemas.Change) error {
	write := s.writer.write
	if isOneEvent(changes) {
		write = s.writer.single
	}
	return write(ctx, func(t *Tx) error {
		t.actor = actorOf("", changes)
		t.enterSession(changes)
		if err := t.lockFirst(changes); err != nil {
			return err
		}
		return t.Apply(changes)
	})
}

// isOneEvent reports whether changes are one event without a notice, which is one statement.
func isOneEvent(changes []schemas.Change) bool {
	if len(changes) != 1 {
		return false
	}
	c, ok := changes[0].(schemas.RecordEvent)
	return ok && schemas.NoticeOf(c.Event) == nil
}

// enterSession adds the session that the changes start to the origin of their events.
func (t *Tx) enterSession(changes []schemas.Change) {
	for _, change := range changes {
		if c, ok := change.(schemas.StartSession); ok && t.origin != nil {
			entered := *t.origin
			entered.SessionID = c.Session.ID
			t.origin = &entered
		}
	}
}

// EndRuns ends the unfinished runs of a user.
func EndRuns(t *Tx, userID string) error { return t.endRuns(userID) }

// putRun is the first write of its transaction: in PostgreSQL it locks the run's row, so the
// second of two commits of one revision fails before it changes anything else.
func (t *Tx) putRun(run *schemas.Run) error {
	if run.Revision == 1 {
		return t.change(errStaleStep, insertRun, run.ID, string(run.Status), run.FlowID, run.FlowVersion, run.ApplicationID,
			run.UserID, run.Node, opaque(run.State), toMicros(run.CreatedAt), toMicros(run.UpdatedAt), toMicros(run.ExpiresAt))
	}
	return t.change(errStaleStep, updateRun, string(run.Status), run.UserID, run.Node, opaque(run.State),
		toMicros(run.UpdatedAt), toMicros(run.ExpiresAt), run.ID, run.Revision-1)
}

func errStaleStep() error {
	return schemas.Errorf(schemas.Conflict, schemas.CodeStaleStep,
		"this step has been answered already; send only the executionId to get the current step")
}
