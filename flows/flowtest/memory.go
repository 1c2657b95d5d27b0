package flowtest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Memory is an in-memory store for tests of flows. It makes the guarantees that nodes and
// the engine rely on: a commit is atomic, revisions are consecutive, and identifying
// attributes are unique. Users have the type Person or a type that accepts any attributes.
// Memory is safe for concurrent use.
type Memory struct {
	mu          sync.Mutex
	runs        map[string]schemas.Run
	users       map[string]schemas.User
	passwords   map[string]schemas.SetPassword
	credentials []schemas.Credential
	totps       map[string]schemas.TOTP
	recovery    map[string]recovery
	providers   map[string]schemas.IdentityProvider // by handle
	identities  []schemas.Identity
	sessions    []schemas.Session
	requests    map[string]schemas.AuthRequest
	consents    map[consentKey]schemas.Consent
	revoked     []string // the jti of tokens
	permissions map[string][]string
	apps        map[string]schemas.Application
	events      []schemas.Event
	deliveries  []schemas.Delivery
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		runs: map[string]schemas.Run{}, users: map[string]schemas.User{}, passwords: map[string]schemas.SetPassword{},
		permissions: map[string][]string{}, apps: map[string]schemas.Application{}, requests: map[string]schemas.AuthRequest{},
		consents: map[consentKey]schemas.Consent{}, totps: map[string]schemas.TOTP{}, recovery: map[string]recovery{},
		providers: map[string]schemas.IdentityProvider{},
	}
}

// Run returns a stored run.
func (m *Memory) Run(_ context.Context, id string) (*schemas.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.runs[id]; ok {
		return &r, nil
	}
	return nil, engine.NotFound(id)
}

// Commit stores the next revision of a run and applies the changes with it.
func (m *Memory) Commit(_ context.Context, run *schemas.Run, changes []schemas.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs[run.ID].Revision != run.Revision-1 {
		return schemas.Errorf(schemas.Conflict, schemas.CodeStaleStep, "the run has moved on since")
	}
	if err := m.apply(changes); err != nil {
		return err
	}
	m.runs[run.ID] = *run
	return nil
}

// Apply applies changes without a run.
func (m *Memory) Apply(_ context.Context, changes []schemas.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.apply(changes)
}

// apply applies the changes to copies, and stores the copies if all changes succeed.
func (m *Memory) apply(changes []schemas.Change) error {
	next := &Memory{
		users: maps.Clone(m.users), passwords: maps.Clone(m.passwords),
		credentials: slices.Clone(m.credentials), events: slices.Clone(m.events),
		sessions: slices.Clone(m.sessions), revoked: slices.Clone(m.revoked), requests: maps.Clone(m.requests),
		deliveries: slices.Clone(m.deliveries), identities: slices.Clone(m.identities),
		consents: maps.Clone(m.consents), totps: maps.Clone(m.totps), recovery: maps.Clone(m.recovery),
	}
	for _, c := range changes {
		if err := next.change(c); err != nil {
			return err
		}
	}
	m.users, m.passwords, m.credentials, m.events = next.users, next.passwords, next.credentials, next.events
	m.sessions, m.revoked, m.requests, m.deliveries = next.sessions, next.revoked, next.requests, next.deliveries
	m.consents, m.totps, m.recovery, m.identities = next.consents, next.totps, next.recovery, next.identities
	return nil
}

func notFound(code, what, id string) error {
	return schemas.Errorf(schemas.NotFound, code, "there is no %s %.64q", what, id)
}

// person is the only user type with rules.
var person = sync.OnceValues(func() (*schemas.CompiledUserType, error) {
	t := schemas.Person()
	return schemas.CompileUserType(&t)
})

// Sessions returns the active sessions of a user, oldest first.
func (m *Memory) Sessions(_ context.Context, userID string) ([]schemas.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []schemas.Session
	for _, s := range m.sessions {
		if s.UserID == userID {
			list = append(list, s)
		}
	}
	return list, nil
}

// CreateAuthRequest stores an authorization request.
func (m *Memory) CreateAuthRequest(_ context.Context, r schemas.AuthRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[r.ID] = r
	return nil
}

// AuthRequest returns an authorization request, even if it has expired.
func (m *Memory) AuthRequest(_ context.Context, id string) (*schemas.AuthRequest, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.requests[id]; ok {
		return &r, nil
	}
	return nil, noAuthRequest(id)
}

func noAuthRequest(id string) error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeAuthRequest,
		"there is no authorization request %.64q that could be answered: it is unknown, has expired or has been answered", id)
}

// RegisteredScopes returns the scopes for which an application is registered.
func (m *Memory) RegisteredScopes(ctx context.Context, applicationID string) ([]string, error) {
	a, err := m.Application(ctx, applicationID)
	if err != nil || a.OAuth() == nil {
		return nil, err
	}
	return a.OAuth().Scopes, nil
}

// Application returns an application.
func (m *Memory) Application(_ context.Context, id string) (*schemas.Application, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, ok := m.apps[id]; ok {
		return &a, nil
	}
	return nil, notFound(schemas.CodeAppNotFound, "application", id)
}

// Events returns the audit log, oldest first.
func (m *Memory) Events() []schemas.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}

// Deliveries returns the queued deliveries, oldest first. They are never sent.
func (m *Memory) Deliveries() []schemas.Delivery {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.deliveries)
}
