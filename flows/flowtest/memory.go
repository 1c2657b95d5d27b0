package flowtest

import (
	"cmp"
	"context"
	"sync"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Memory is an in-memory store for tests of flows. It makes the guarantees that nodes and
// the engine rely on: a commit is atomic, revisions are consecutive, and identifying
// attributes are unique. Memory is safe for concurrent use.
type Memory struct {
	mu     sync.Mutex
	stored records
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{} }

// records returns what is stored. Callers must not change it.
func (m *Memory) records() records {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stored
}

// update changes a copy of the records, and stores the copy unless there is an error.
func (m *Memory) update(change func(*records) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := append(records{}, m.stored...)
	err := change(&next)
	if err == nil {
		m.stored = next
	}
	return err
}

// Run returns a stored run.
func (m *Memory) Run(_ context.Context, id string) (*schemas.Run, error) {
	if r := find(m.records(), func(r schemas.Run) bool { return r.ID == id }); r != nil {
		return r, nil
	}
	return nil, engine.NotFound(id)
}

// Commit stores the next revision of a run and applies the changes with it.
func (m *Memory) Commit(_ context.Context, run *schemas.Run, changes []schemas.Change) error {
	isRun := func(r schemas.Run) bool { return r.ID == run.ID }
	return m.update(func(next *records) error {
		if before := cmp.Or(find(*next, isRun), &schemas.Run{}); before.Revision != run.Revision-1 {
			return schemas.Errorf(schemas.Conflict, schemas.CodeStaleStep, "the run has moved on since")
		}
		put(next, *run, isRun)
		return next.apply(changes)
	})
}

// Apply applies changes without a run.
func (m *Memory) Apply(_ context.Context, changes []schemas.Change) error {
	return m.update(func(next *records) error { return next.apply(changes) })
}

// CreateAuthRequest stores an authorization request.
func (m *Memory) CreateAuthRequest(_ context.Context, r schemas.AuthRequest) error {
	return m.update(func(next *records) error {
		*next = append(*next, r)
		return nil
	})
}

// AuthRequest returns an authorization request, even if it has expired.
func (m *Memory) AuthRequest(_ context.Context, id string) (*schemas.AuthRequest, error) {
	if r := find(m.records(), func(r schemas.AuthRequest) bool { return r.ID == id }); r != nil {
		return r, nil
	}
	return nil, noAuthRequest(id)
}

// Consent returns the user's consent for an application, nil if there is none.
func (m *Memory) Consent(_ context.Context, userID, applicationID string) (*schemas.Consent, error) {
	return find(m.records(), isConsent(userID, applicationID)), nil
}

// Events returns the audit log, oldest first.
func (m *Memory) Events() []schemas.Event { return all[schemas.Event](m.records()) }

// Deliveries returns the queued deliveries, oldest first. They are never sent.
func (m *Memory) Deliveries() []schemas.Delivery { return all[schemas.Delivery](m.records()) }
