package flowtest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// origin is the origin of the sign-in page in scenarios.
const origin = "https://login.example.org"

// environment runs scenarios, one after another: it has a compiled flow and, new for each
// scenario, a store, devices and a clock.
type environment struct {
	*Memory
	file         *File
	scenario     Scenario
	engine       *engine.Engine
	graph        *engine.Graph
	app          schemas.Application
	ceremonies   *passkey.Ceremonies
	authority    *passkeytest.CA // attests the passkeys of devices that are attested
	hasher       *password.Pool
	devices      map[string]*passkeytest.Authenticator
	codes        map[string]totp.Key // keys of authenticator apps, by device
	now          time.Time
	reached      map[Exit]int        // number of scenarios
	answers      map[string][]Answer // remaining answers of services, by target
	asked        []schemas.Call
	unanswered   *schemas.Call           // the last one without an answer
	internet     federationtest.Internet // the identity providers, each created on its first use
	relyingParty *relyingParty
	types        map[string]*userType
	elsewhere    bool // the request comes from another browser
}

// newEnvironment reads and compiles the flow of the file.
func newEnvironment(f *File) (*environment, error) {
	w := &environment{
		file: f, reached: map[Exit]int{}, relyingParty: &relyingParty{}, types: map[string]*userType{},
		// The lowest cost of argon2id: a scenario tests the flow, not the hash.
		hasher: password.New(password.Options{MemoryKiB: 8, Iterations: 1, Workers: 1, Queue: 1}),
	}
	w.authority = passkeytest.NewCA("scenarios")
	anchors := passkey.Policy{TrustAnchors: []*x509.Certificate{w.authority.Certificate}}
	var err error
	if w.ceremonies, err = passkey.New(passkey.Config{Origins: []string{origin}, Policy: anchors, Now: w.clock}); err != nil {
		return nil, err
	}
	return w, w.compile(w.kinds())
}

// reset prepares the environment for a scenario: it discards all state and creates the
// users of the file.
func (w *environment) reset(ctx context.Context, s Scenario) error {
	w.scenario, w.app = s, schemas.Application{}
	for _, members := range []json.RawMessage{w.file.Application, s.Application} {
		if len(members) == 0 {
			continue
		}
		if err := json.Unmarshal(members, &w.app); err != nil {
			return fmt.Errorf("the application of %q: %w", s.Name, err)
		}
	}
	w.app.ID = cmp.Or(w.app.ID, "application")
	w.Memory = NewMemory()
	w.devices, w.codes = map[string]*passkeytest.Authenticator{}, map[string]totp.Key{}
	w.answers, w.asked, w.unanswered = maps.Clone(s.HTTP), nil, nil
	w.now = w.file.begin()
	w.internet = federationtest.Internet{}
	w.relyingParty.Client = federation.New(w.internet)
	for _, name := range slices.Sorted(maps.Keys(w.file.Users)) {
		if err := w.createUser(ctx, name, w.file.Users[name]); err != nil {
			return fmt.Errorf("the user %s: %w", name, err)
		}
	}
	return nil
}

// kinds returns the kinds of nodes of the server, with the dependencies of this
// environment.
func (w *environment) kinds() engine.Kinds {
	return nodes.Kinds(nodes.Deps{
		Store: w, Directory: w, Hasher: w.hasher, Asserter: claims{},
		Federation: w.relyingParty, Mails: w, Targets: fakeServices{w}, Box: plainCipher{}, Name: "Example",
		Ceremonies: w.ceremonies, BaseURL: origin, DecoySecret: make([]byte, 32),
		RecognizesBrowser: w.recognizesBrowser, ReleasesUnverified: func() bool { return w.scenario.NoMail },
	})
}

// compile reads and compiles the flow.
func (w *environment) compile(kinds engine.Kinds) error {
	path := w.file.FlowPath()
	definition, err := w.file.definition()
	if err != nil {
		return err
	}
	flow, graph, problems := engine.CheckUsing(definition.Text, !definition.JSON, kinds, definition.Subflows)
	if graph == nil {
		return flows.Faults(path, problems)
	}
	if flow.FlowType == schemas.Subflow {
		return fmt.Errorf("%s: a sub-flow cannot run alone: test a flow that uses it", path)
	}
	if err := w.addUserTypes(definition.UserTypes); err != nil {
		return err
	}
	flow.ID, flow.ActiveVersion = flow.Handle, 1
	w.graph = graph
	w.engine = engine.NewEngine(engine.Engine{Runs: w, Graphs: w, Applications: w, Now: w.clock, Unanswered: nodes.RefuseUnanswered(origin)})
	return nil
}

func (w *environment) clock() time.Time { return w.now }

// begin returns the time at which scenarios begin.
func (f *File) begin() time.Time {
	if f.Clock.IsZero() {
		return time.Date(2030, time.January, 2, 3, 4, 5, 0, time.UTC)
	}
	return f.Clock.UTC()
}

// createUser stores a user with their credentials.
func (w *environment) createUser(ctx context.Context, name string, g Given) error {
	u := schemas.User{ID: userID(name), Type: "Person", Attributes: g.Attributes, Status: g.Status, LockedUntil: g.LockedUntil, CreatedAt: w.now, UpdatedAt: w.now}
	changes := []schemas.Change{schemas.CreateUser{User: u}}
	if g.Password != "" {
		hash, err := w.hasher.Hash(ctx, g.Password)
		if err != nil {
			return err
		}
		changes = append(changes, schemas.SetPassword{UserID: u.ID, Hash: hash, At: w.now})
	}
	for _, device := range g.Passkeys {
		credential, err := w.registerPasskey(u, device)
		if err != nil {
			return fmt.Errorf("the passkey on %s: %w", device, err)
		}
		changes = append(changes, schemas.CreateCredential{Credential: *credential})
	}
	return w.Apply(ctx, slices.Concat(changes, w.factors(u.ID, g), w.linked(u.ID, g.Identities), w.invited(name, g)))
}

// userID derives a user's ID from the name in the file, so that repeated runs of a
// scenario are equal.
func userID(name string) string {
	h := sha256.Sum256([]byte(name))
	return fmt.Sprintf(userIDPrefix+"%012x", h[:6])
}

const userIDPrefix = "01900000-0000-7000-8000-"

// registerPasskey registers a passkey of the user on the device.
func (w *environment) registerPasskey(u schemas.User, device string) (*schemas.Credential, error) {
	request := passkey.RegistrationRequest{User: passkey.User{ID: u.ID, Name: u.Text("username")}, ResidentKey: "required"}
	if w.file.Devices[device].Attested {
		request.Attestation = "direct"
	}
	options, session, err := w.ceremonies.BeginRegistration(request)
	if err != nil {
		return nil, err
	}
	answer, err := w.device(device).Register(options, origin)
	if err != nil {
		return nil, err
	}
	return w.ceremonies.FinishRegistration(session, answer, w.now)
}

// device returns the authenticator with the name. A new one has no passkeys.
func (w *environment) device(name string) *passkeytest.Authenticator {
	if w.devices[name] == nil {
		w.devices[name] = passkeytest.New(w.file.Devices[name].options(name, w.authority)...)
	}
	return w.devices[name]
}
