package flowtest

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Memory is a store in maps: what a test of a flow needs of one. It keeps the
// promises that the nodes and the engine rest on: a commit happens as a whole
// or not at all, a revision follows the one before, and no two users share the
// value of an identifying attribute. Users have the type Person, or one that
// lets them be as they are. It is safe for use by many goroutines.
type Memory struct {
	mu          sync.Mutex
	runs        map[string]schemas.Run
	users       map[string]schemas.User
	passwords   map[string]string
	credentials []schemas.Credential
	totps       map[string]schemas.TOTP
	recovery    map[string]recovery
	providers   map[string]schemas.IdentityProvider // by their handles
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
		runs: map[string]schemas.Run{}, users: map[string]schemas.User{}, passwords: map[string]string{},
		permissions: map[string][]string{}, apps: map[string]schemas.Application{}, requests: map[string]schemas.AuthRequest{},
		consents: map[consentKey]schemas.Consent{}, totps: map[string]schemas.TOTP{}, recovery: map[string]recovery{},
		providers: map[string]schemas.IdentityProvider{},
	}
}

// Run returns a kept run.
func (m *Memory) Run(_ context.Context, id string) (*schemas.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.runs[id]; ok {
		return &r, nil
	}
	return nil, engine.NotFound(id)
}

// Commit moves a run on and applies the changes with it.
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

// apply applies all changes to copies and keeps those only if all went well.
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

// person is what users of the only type there is are like.
var person = sync.OnceValues(func() (*schemas.CompiledUserType, error) {
	t := schemas.Person()
	return schemas.CompileUserType(&t)
})

// CheckUser checks a person by the type Person; users of other types may have
// any attributes.
func (m *Memory) CheckUser(_ context.Context, u *schemas.User) error {
	if u.Type != schemas.PersonName {
		return nil
	}
	t, err := person()
	if err != nil {
		return err
	}
	text, err := json.Marshal(u.Attributes)
	if err != nil {
		return err
	}
	if problems := t.Check(text, false); len(problems) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeUserDoesNotFit,
			"the user does not fit the type %s: %s", u.Type, problems[0]).WithProblems(problems)
	}
	return nil
}

// UserType returns the type Person; another is one that lets users be as they are.
func (m *Memory) UserType(_ context.Context, name string) (*schemas.UserType, error) {
	if name != schemas.PersonName {
		return &schemas.UserType{Name: name, Schema: json.RawMessage(`{"type": "object"}`)}, nil
	}
	t := schemas.Person()
	return &t, nil
}

// Sessions returns the sessions of a user that have not ended, oldest first.
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

// CreateAuthRequest keeps an authorization request.
func (m *Memory) CreateAuthRequest(_ context.Context, r schemas.AuthRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[r.ID] = r
	return nil
}

// AuthRequest returns an authorization request, also one that has expired.
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

// find returns the user of whose attributes one has the value, however it is
// written.
func (m *Memory) find(value string, attributes ...string) *schemas.User {
	key := schemas.IdentifierKey(value)
	for _, u := range m.users {
		for _, attribute := range attributes {
			if text := u.Text(attribute); text != "" && schemas.IdentifierKey(text) == key {
				return &u
			}
		}
	}
	return nil
}

// credential returns the index of the passkey with the id, or -1.
func (m *Memory) credential(id schemas.Bytes) int {
	return slices.IndexFunc(m.credentials, func(c schemas.Credential) bool { return bytes.Equal(c.ID, id) })
}

// User finds a user by id.
func (m *Memory) User(_ context.Context, id string) (*schemas.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u, ok := m.users[id]; ok {
		return &u, nil
	}
	return nil, notFound(schemas.CodeUserNotFound, "user", id)
}

// UserByAttribute finds a user by an identifying attribute.
func (m *Memory) UserByAttribute(_ context.Context, attribute, value string) (*schemas.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u := m.find(value, attribute); u != nil {
		return u, nil
	}
	return nil, notFound(schemas.CodeUserNotFound, "user with the "+attribute, value)
}

// PasswordHash returns the hash of the user's password, "" if there is none.
func (m *Memory) PasswordHash(_ context.Context, userID string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.passwords[userID], nil
}

// Credentials returns the user's passkeys, oldest first.
func (m *Memory) Credentials(_ context.Context, userID string) ([]schemas.Credential, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []schemas.Credential
	for _, c := range m.credentials {
		if c.UserID == userID {
			list = append(list, c)
		}
	}
	return list, nil
}

// Credential finds a passkey by its id, whoever has it.
func (m *Memory) Credential(_ context.Context, id schemas.Bytes) (*schemas.Credential, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.credential(id); i >= 0 {
		c := m.credentials[i]
		return &c, nil
	}
	return nil, notFound(schemas.CodeCredentialNotFound, "passkey", id.String())
}

// Permissions returns what the user may do.
func (m *Memory) Permissions(_ context.Context, userID string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.permissions[userID], nil
}

// RegisteredScopes returns what an application is registered for as a client.
func (m *Memory) RegisteredScopes(ctx context.Context, applicationID string) ([]string, error) {
	a, err := m.Application(ctx, applicationID)
	if err != nil || a.OAuth() == nil {
		return nil, err
	}
	return a.OAuth().Scopes, nil
}

// Application finds an application.
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

// Deliveries returns what is to be sent, oldest first. Nobody sends it.
func (m *Memory) Deliveries() []schemas.Delivery {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.deliveries)
}

// claims writes what a token would say as plain JSON: a scenario looks at what
// is asserted, not at how it is signed.
type claims struct{}

// Assert returns the claims as a JSON object.
func (claims) Assert(_ context.Context, a schemas.Assertion) (string, error) {
	all := maps.Clone(a.Profile)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, map[string]any{
		"sub": a.Subject, "aud": a.Audience, "amr": a.AMR, "acr": a.ACR, "auth_time": a.AuthTime.Unix(),
		"scope": strings.Join(a.Permissions, " "), "userType": a.UserType, "ouId": a.OUID, "sid": a.Session,
	})
	text, err := json.Marshal(all)
	return string(text), err
}

// AssertionTTL is an hour, as it is by default.
func (claims) AssertionTTL() time.Duration { return time.Hour }
