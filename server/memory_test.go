package server_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// memory is the store: runs, users, passkeys, sessions and flows.
type memory struct {
	mu       sync.Mutex
	runs     map[string]schemas.Run
	users    map[string]schemas.User
	passkeys []schemas.Credential
	sessions []schemas.PasskeySession
	apps     map[string]schemas.Application
	graphs   map[string]*engine.Graph
	changes  []schemas.Change
	down     error // what every method fails with, if not nil
}

func newMemory(t testing.TB) *memory {
	m := &memory{runs: map[string]schemas.Run{}, graphs: map[string]*engine.Graph{}}
	m.users = map[string]schemas.User{
		ada: {ID: ada, Type: "Person", OUID: "ou1", Attributes: map[string]any{"username": "ada", "given_name": "Ada", "sub": "evil"}},
		bob: {ID: bob, Type: "Person", OUID: "ou1", Attributes: map[string]any{"username": "bob"}},
	}
	m.apps = map[string]schemas.Application{
		"app": {ID: "app", Name: "Shop", URL: "https://shop.example.com", AuthFlowID: "sign-in", RegistrationFlowID: "sign-up", IsRegistrationFlowEnabled: true,
			Customizations: map[string]any{"theme": map[string]any{"colour": "red"}, "layout": "none"}},
		"closed": {ID: "closed", Name: "Closed", AuthFlowID: "sign-in", RegistrationFlowID: "sign-up"},
		"bare":   {ID: "bare", Name: "Bare", IsRegistrationFlowEnabled: true},
		"broken": {ID: "broken", Name: "Broken", AuthFlowID: "gone"},
		"trying": {ID: "trying", Name: "Trying", AuthFlowID: "troubles"},
	}
	m.compile(t, "sign-in", schemas.Authentication, "who form key", "key prove done", "done finish")
	m.compile(t, "sign-up", schemas.Registration, "who form end")
	m.compile(t, "troubles", schemas.Authentication, "who trouble key", "key prove end")
	return m
}

func (m *memory) compile(t testing.TB, id string, ft schemas.FlowType, lines ...string) {
	f := &schemas.Flow{ID: id, Handle: id, Name: id, FlowType: ft, ActiveVersion: 1}
	for _, line := range lines {
		words := append(strings.Fields(line), "")
		f.Nodes = append(f.Nodes, schemas.Node{ID: words[0], Use: words[1], Next: schemas.Next{To: words[2]}})
	}
	g, problems := engine.Compile(f, testKinds())
	if g == nil {
		t.Fatalf("%s: %v", id, problems)
	}
	m.graphs[id] = g
}

// addConsole adds the application of the console with a sign-in flow of these nodes in JSON.
func (m *memory) addConsole(t testing.TB, list string, guarantees schemas.Guarantees, types []string) {
	f := &schemas.Flow{ID: "console", Handle: "console", Name: "Console", FlowType: schemas.Authentication, ActiveVersion: 1, Guarantees: guarantees}
	datatest.Unmarshal(t, []byte("["+list+"]"), &f.Nodes)
	g, problems := engine.Compile(f, nodes.Kinds(nodes.Deps{}))
	if g == nil {
		t.Fatal(problems)
	}
	m.graphs[f.ID] = g
	m.apps[console] = schemas.Application{ID: console, Name: "Console", AuthFlowID: f.ID, AllowedUserTypes: types}
}

func (m *memory) Active(_ context.Context, id string) (*engine.Graph, error) {
	return m.Graph(context.Background(), id, 1)
}

func (m *memory) Graph(_ context.Context, id string, _ int) (*engine.Graph, error) {
	if g := m.graphs[id]; g != nil {
		return g, nil
	}
	return nil, schemas.Errorf(schemas.NotFound, schemas.CodeFlowNotFound, "there is no flow %q", id)
}

func (m *memory) Application(_ context.Context, id string) (*schemas.Application, error) {
	if m.down != nil {
		return nil, m.down
	}
	if app, ok := m.apps[id]; ok {
		return &app, nil
	}
	return nil, schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, "there is no application %.64q", id)
}

func (m *memory) Run(_ context.Context, id string) (*schemas.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.runs[id]
	if !ok {
		return nil, engine.NotFound(id)
	}
	return &r, nil
}

func (m *memory) Commit(_ context.Context, r *schemas.Run, changes []schemas.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs[r.ID].Revision != r.Revision-1 {
		return schemas.Errorf(schemas.Conflict, schemas.CodeStaleStep, "the run has moved on")
	}
	m.runs[r.ID] = *r
	m.changes = append(m.changes, changes...)
	return nil
}

func (m *memory) User(_ context.Context, id string) (*schemas.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u, ok := m.users[id]; ok {
		return &u, nil
	}
	return nil, schemas.Errorf(schemas.NotFound, schemas.CodeUserNotFound, "there is no user %.64q", id)
}

func (m *memory) Permissions(_ context.Context, id string) ([]string, error) {
	if id == ada {
		return []string{"system"}, nil
	}
	return nil, nil
}

func (m *memory) Credentials(_ context.Context, userID string) ([]schemas.Credential, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []schemas.Credential
	for _, c := range m.passkeys {
		if c.UserID == userID {
			list = append(list, c)
		}
	}
	return list, nil
}

func (m *memory) Credential(_ context.Context, id schemas.Bytes) (*schemas.Credential, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.passkeys {
		if bytes.Equal(c.ID, id) {
			return &c, nil
		}
	}
	return nil, schemas.Errorf(schemas.NotFound, schemas.CodeCredentialNotFound, "there is no passkey of this id")
}

func (m *memory) PutPasskeySession(_ context.Context, p schemas.PasskeySession) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions = slices.DeleteFunc(m.sessions, func(old schemas.PasskeySession) bool {
		return old.Owner == p.Owner && old.Ceremony == p.Ceremony
	})
	m.sessions = append(m.sessions, p)
	return nil
}

func (m *memory) TakePasskeySession(_ context.Context, hash []byte, now time.Time) (*schemas.PasskeySession, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, p := range m.sessions {
		if bytes.Equal(p.TokenHash, hash) {
			m.sessions = slices.Delete(m.sessions, i, i+1)
			if now.Before(p.ExpiresAt) {
				return &p, nil
			}
		}
	}
	return nil, schemas.Errorf(schemas.Invalid, schemas.CodeStaleSession, "the sessionToken is unknown, used, replaced or expired; start again")
}

func (m *memory) Apply(_ context.Context, changes []schemas.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, change := range changes {
		switch c := change.(type) {
		case schemas.CreateCredential:
			if slices.ContainsFunc(m.passkeys, func(p schemas.Credential) bool { return bytes.Equal(p.ID, c.Credential.ID) }) {
				return schemas.Errorf(schemas.Conflict, schemas.CodeCredentialExists, "this passkey is registered already")
			}
			m.passkeys = append(m.passkeys, c.Credential)
		case schemas.UseCredential:
			for i := range m.passkeys {
				if bytes.Equal(m.passkeys[i].ID, c.ID) {
					m.passkeys[i].SignCount = c.SignCount
				}
			}
		}
	}
	m.changes = append(m.changes, changes...)
	return nil
}

// signIns lists the sessions that were started.
func (m *memory) signIns() []schemas.Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	var started []schemas.Session
	for _, change := range m.changes {
		if s, ok := change.(schemas.StartSession); ok {
			started = append(started, s.Session)
		}
	}
	return started
}

// events lists the actions in the audit log.
func (m *memory) events() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var actions []string
	for _, change := range m.changes {
		if e, ok := change.(schemas.RecordEvent); ok {
			actions = append(actions, e.Event.Action)
		}
	}
	return actions
}
