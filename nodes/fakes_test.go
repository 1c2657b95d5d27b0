package nodes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

const origin = "https://login.example.com"

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	app  = &schemas.Application{ID: "app-1", Name: "Shop", OUID: "ou-1"}
)

// directory is an in-memory store of everything that the kinds read.
type directory struct {
	Directory // what the tests do not read
	*factors
	users          map[string]*schemas.User
	hashes         map[string]string
	added          map[string]schemas.Provenance // of passwords
	credentials    []schemas.Credential
	permissions    map[string][]string
	administrators map[string]bool
	groups         map[string][]string
	roles          map[string][]string
	identities     map[string][]schemas.Identity
	consents       map[string]*schemas.Consent // by user and application
	request        *schemas.AuthRequest
	invitation     *schemas.Link
	owners         []schemas.AttributeOwner
	scopes         map[string][]string // by application
	misfit         []schemas.Problem   // problems of the user to be created
	lookups        int                 // calls of UserByAttribute
	userType       *schemas.UserType   // nil: Person
	broken         error               // error of every method, if not nil
}

func notFound(code string) error {
	return schemas.Errorf(schemas.NotFound, code, "not there")
}

func (d *directory) User(_ context.Context, id string) (*schemas.User, error) {
	if u := d.users[id]; u != nil || d.broken != nil {
		return u, d.broken
	}
	return nil, notFound(schemas.CodeUserNotFound)
}

func (d *directory) UserByAttribute(_ context.Context, _, attribute, value string) (*schemas.User, error) {
	d.lookups++
	if d.broken != nil {
		return nil, d.broken
	}
	for _, u := range d.users {
		if v := u.Identifier(attribute); v != "" && strings.EqualFold(v, value) {
			return u, nil
		}
	}
	return nil, notFound(schemas.CodeUserNotFound)
}

// CheckUser accepts any user, unless the test sets problems.
func (d *directory) CheckUser(_ context.Context, u *schemas.User) error {
	if len(d.misfit) == 0 {
		return d.broken
	}
	return schemas.Errorf(schemas.Invalid, schemas.CodeUserDoesNotFit, "a %s is not like this", u.Type).WithProblems(d.misfit)
}

// UserType returns Person, or the type that the test sets.
func (d *directory) UserType(context.Context, string) (*schemas.UserType, error) {
	if d.userType != nil {
		return d.userType, d.broken
	}
	person := schemas.Person()
	return &person, d.broken
}

func (d *directory) Password(_ context.Context, userID string) (schemas.Password, error) {
	return schemas.Password{Hash: d.hashes[userID], ID: "password of " + userID, AddedBy: d.added[userID]}, d.broken
}

func (d *directory) Protection(ctx context.Context, userID string) (p schemas.Protection, err error) {
	app, err := d.TOTP(ctx, userID)
	if err != nil {
		return p, err
	}
	codes, err := d.RecoveryCodes(ctx, userID)
	p.Administrator = d.administrators[userID]
	p.HadPasskey = slices.ContainsFunc(d.credentials, func(key schemas.Credential) bool { return key.UserID == userID && key.AddedBy.CountsInFull() })
	p.UnusedApp = app != nil && app.LastUsedAt == nil
	p.SecondFactor = app != nil || codes != nil && codes.Left > 0
	return p, errors.Join(err, d.broken)
}

func (d *directory) AttributeOwners(context.Context, string) ([]schemas.AttributeOwner, error) {
	return d.owners, nil
}

func (d *directory) Additions(_ context.Context, userID string) (list []schemas.Addition, err error) {
	for _, key := range d.credentials {
		if key.UserID == userID {
			list = append(list, key.Addition())
		}
	}
	return list, d.broken
}

func (d *directory) Permissions(_ context.Context, userID string) ([]string, error) {
	return d.permissions[userID], d.broken
}

func (d *directory) ClaimFacts(_ context.Context, userID string) (*schemas.ClaimFacts, error) {
	facts := &schemas.ClaimFacts{}
	for _, name := range d.groups[userID] {
		facts.Groups = append(facts.Groups, schemas.ClaimGroup{ID: name, Name: name})
	}
	return facts, d.broken
}

func (d *directory) GroupNames(_ context.Context, userID string) ([]string, error) {
	return d.groups[userID], d.broken
}

func (d *directory) RoleNames(_ context.Context, userID string) ([]string, error) {
	return d.roles[userID], d.broken
}

func (d *directory) UserIdentities(_ context.Context, userID string) ([]schemas.Identity, error) {
	return d.identities[userID], d.broken
}

func (d *directory) Invitation(_ context.Context, hash []byte, now time.Time) (*schemas.Link, error) {
	if d.invitation != nil && bytes.Equal(hash, d.invitation.TokenHash) && now.Before(d.invitation.ExpiresAt) {
		return d.invitation, d.broken
	}
	return nil, d.broken
}

func (d *directory) RegisteredScopes(_ context.Context, applicationID string) ([]string, error) {
	return d.scopes[applicationID], d.broken
}

func (d *directory) Credentials(_ context.Context, userID string) ([]schemas.Credential, error) {
	var list []schemas.Credential
	for _, c := range d.credentials {
		if c.UserID == userID {
			list = append(list, c)
		}
	}
	return list, d.broken
}

func (d *directory) Credential(_ context.Context, id schemas.Bytes) (*schemas.Credential, error) {
	for _, c := range d.credentials {
		if c.ID.String() == id.String() {
			return &c, d.broken
		}
	}
	return nil, notFound(schemas.CodeCredentialNotFound)
}

// hasher stores passwords in clear text and counts its calls.
type hasher struct {
	hashed, verified int
	broken           error
}

func (h *hasher) Hash(_ context.Context, password string) (string, error) {
	h.hashed++
	return "new:" + password, h.broken
}

func (h *hasher) Verify(_ context.Context, phc, password string) (ok, rehash bool, err error) {
	h.verified++
	kind, secret, _ := strings.Cut(phc, ":")
	ok = secret == password
	return ok, ok && kind == "old", h.broken
}

// asserter writes assertions as JSON.
type asserter struct{ broken error }

func (a asserter) Assert(_ context.Context, s schemas.Assertion) (string, error) {
	text, err := json.Marshal(s)
	return string(text), errors.Join(err, a.broken)
}

func (asserter) AssertionTTL() time.Duration { return time.Hour }

// fixture is the environment of tests of the kinds: Ada has a username, an address and a
// password; Bob has a passkey.
type fixture struct {
	*directory
	hasher *hasher
	device *passkeytest.Authenticator
	deps   Deps
	kinds  engine.Kinds
}

// addInactive adds users with Ada's password: a disabled one, a locked one, and one whose
// lock has just ended.
func (w *fixture) addInactive() {
	for _, u := range []*schemas.User{
		{ID: "dora", Type: "Person", Status: schemas.UserDisabled}, {ID: "lea", Type: "Person", LockedUntil: noon.Add(time.Second)},
		{ID: "max", Type: "Person", LockedUntil: noon},
	} {
		w.users[u.ID], w.hashes[u.ID] = u, w.hashes["ada"]
	}
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	ceremonies, err := passkey.New(passkey.Config{Origins: []string{origin}, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{
		directory: &directory{
			factors: &factors{},
			users: map[string]*schemas.User{
				"ada": {ID: "ada", Type: "Person", OUID: "ou-1", Attributes: map[string]any{
					"username": "ada", "email": "ada@example.org", "email_verified": true, "given_name": "Ada", "department": "Engines",
				}},
				"bob": {ID: "bob", Type: "Person", Attributes: map[string]any{"username": "bob"}},
			},
			hashes:      map[string]string{"ada": "new:analytical engine"},
			permissions: map[string][]string{"ada": {"system"}},
			scopes:      map[string][]string{"app-1": {"openid", "system"}, "shop": {"openid", "system:users:read"}},
		},
		hasher: &hasher{},
		device: passkeytest.New(passkeytest.Seed(t.Name())),
	}
	w.deps = Deps{
		Store: w, Directory: w, Hasher: w.hasher, Asserter: asserter{},
		Ceremonies: ceremonies, BaseURL: "https://id.example.com", DecoySecret: []byte("0123456789abcdef0123456789abcdef"),
	}
	w.kinds = Kinds(w.deps)
	w.enrol(t, "bob")
	return w
}

// enroll registers a user's passkey on the device.
func (w *fixture) enrol(t *testing.T, userID string) schemas.Credential {
	t.Helper()
	options, session, err := w.deps.Ceremonies.BeginRegistration(passkey.RegistrationRequest{User: passkey.User{ID: userID, Name: userID}})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.device.Register(options, origin)
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.deps.Ceremonies.FinishRegistration(session, answer, noon)
	if err != nil {
		t.Fatal(err)
	}
	w.credentials = append(w.credentials, *c)
	return *c
}

// make returns the executor of a node in a flow with the inputs.
func (w *fixture) make(t *testing.T, use, with string, inputs map[string]schemas.InputType) engine.Executor {
	t.Helper()
	exec, problems := w.try(use, with, inputs, schemas.Next{To: "next"})
	if slices.ContainsFunc(problems, func(p schemas.Problem) bool { return !p.Warning }) {
		t.Fatalf("%s %s: %v", use, with, problems)
	}
	return exec
}

func (w *fixture) try(use, with string, inputs map[string]schemas.InputType, next schemas.Next) (engine.Executor, []schemas.Problem) {
	kind := w.kinds[use]
	if kind.With != nil {
		if problems := kind.With.Check(json.RawMessage(with)); len(problems) > 0 {
			return nil, problems
		}
	}
	return kind.New(&engine.Config{
		FlowType:  schemas.Authentication,
		Node:      &schemas.Node{ID: "node", Use: use, Next: next},
		With:      json.RawMessage(with),
		Collected: func() engine.Collected { return engine.Collected{Inputs: inputs} },
	})
}

// visit returns a visit on arrival.
func visit(change ...func(*engine.Visit)) *engine.Visit {
	v := &engine.Visit{
		ExecutionID: "run-1", FlowType: schemas.Authentication, Application: app, Now: noon,
		Inputs: map[string]string{}, Facts: engine.NewFacts(),
	}
	for _, c := range change {
		c(v)
	}
	return v
}

func known(userID string) func(*engine.Visit) {
	return func(v *engine.Visit) {
		v.Subject = engine.Subject{UserID: userID, Input: "username"}
		v.Facts = engine.NewFacts(engine.User)
	}
}

func concealed(name string) func(*engine.Visit) {
	return func(v *engine.Visit) { v.Subject = engine.Subject{Name: name, Input: "username"} }
}

func drafted(u *schemas.User) func(*engine.Visit) {
	return func(v *engine.Visit) {
		v.Subject = engine.Subject{UserID: u.ID, Draft: u}
		v.Facts = engine.NewFacts(engine.User, engine.New)
	}
}

func authenticated(acr string, methods ...string) func(*engine.Visit) {
	return func(v *engine.Visit) {
		by := schemas.Proof{Kind: "earlier", Of: "proof", At: noon}
		v.Authentication = &engine.Authentication{Time: noon, ACR: acr, Methods: methods, Proofs: []schemas.Proof{by.Proving(methods, acr)}}
	}
}

func methodsOf(d *engine.Decision) []string { return schemas.ProvenMethods(d.Proofs) }

func acrOf(d *engine.Decision) string { return schemas.ProvenACR(d.Proofs) }

// proven returns the methods and the class that a decision proves together with those before it.
func proven(v *engine.Visit, d *engine.Decision) string {
	proofs := d.Proofs
	if v.Authentication != nil {
		proofs = schemas.MergeProofs(v.Authentication.Proofs, proofs)
	}
	return strings.TrimSpace(strings.Join(schemas.ProvenMethods(proofs), " ") + " " + schemas.ProvenACR(proofs))
}

func inputs(pairs ...string) func(*engine.Visit) {
	return func(v *engine.Visit) {
		for i := 0; i < len(pairs); i += 2 {
			v.Inputs[pairs[i]] = pairs[i+1]
		}
	}
}

func answer(action string, pairs ...string) func(*engine.Visit) {
	return func(v *engine.Visit) {
		v.Answer = &engine.Answer{Action: action, Inputs: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			v.Answer.Inputs[pairs[i]] = pairs[i+1]
		}
	}
}

// run executes a visit and fails the test on an error.
func run(t *testing.T, exec engine.Executor, v *engine.Visit) *engine.Decision {
	t.Helper()
	d, err := exec.Execute(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	set := 0
	for _, is := range []bool{d.Outcome != "", d.Ask != nil, d.Result != nil, d.Refuse != nil} {
		if is {
			set++
		}
	}
	if set != 1 {
		t.Fatalf("a decision must leave, ask or end: %+v", d)
	}
	return d
}

// left fails the test unless the decision leaves by the outcome.
func left(t *testing.T, d *engine.Decision, outcome string) *engine.Decision {
	t.Helper()
	if d.Outcome != outcome {
		t.Fatalf("left by %q (notice %v, ask %+v), want %q", d.Outcome, d.Notice, d.Ask, outcome)
	}
	return d
}

// noticed fails the test unless the decision is a failed attempt with the code.
func noticed(t *testing.T, d *engine.Decision, code string) {
	t.Helper()
	if !d.Failed || d.Notice == nil || d.Notice.Code != code {
		t.Fatalf("failed %v with notice %v, want %s", d.Failed, d.Notice, code)
	}
}

// actions lists the audit actions among the changes.
func actions(d *engine.Decision) string {
	var list []string
	for _, c := range d.Changes {
		if e, ok := c.(schemas.RecordEvent); ok {
			list = append(list, e.Event.Action)
		}
	}
	return strings.Join(list, " ")
}

// texts joins the messages of problems with their paths.
func texts(problems []schemas.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}
