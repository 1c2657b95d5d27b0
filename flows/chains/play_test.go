package chains_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// An attacker plays random runs against the real engine and nodes, with a software authenticator
// and what the means give. Every class of tokens that they get is one that the analysis reports;
// of these systems, they also get every class that it reports without conditions.

const (
	playOrigin     = "https://login.example.org"
	victimID       = "01900000-0000-7000-8000-00000000abcd"
	victimName     = "ada"
	victimPassword = "quiet harbour lantern"
)

// arena is a server with applications, and the attacker's possessions.
type arena struct {
	*flowtest.Memory
	nodes.Directory // what the flows do not read
	t               *testing.T
	random          *rand.Rand
	now             time.Time
	engine          *engine.Engine
	graphs          map[string]*engine.Graph
	ceremonies      *passkey.Ceremonies

	means     chains.Means
	password  string // the last one that the attacker set or knows
	device    *passkeytest.Authenticator
	key       *totp.Key
	offered   totp.Key
	codes     []string
	session   *schemas.Session
	assertion *schemas.Assertion
}

func (w *arena) Graph(_ context.Context, id string, _ int) (*engine.Graph, error) {
	return w.graphs[id], nil
}
func (w *arena) Application(_ context.Context, id string) (*schemas.Application, error) {
	return &schemas.Application{ID: id, Name: id}, nil
}
func (w *arena) Identity(ctx context.Context, provider, subject string) (*schemas.Identity, error) {
	return w.Memory.Identity(ctx, provider, subject)
}
func (w *arena) Permissions(context.Context, string) ([]string, error) { return nil, nil }
func (w *arena) Protection(ctx context.Context, userID string) (schemas.Protection, error) {
	app, err := w.TOTP(ctx, userID)
	codes, _ := w.RecoveryCodes(ctx, userID)
	return schemas.Protection{SecondFactor: app != nil || codes != nil && codes.Left > 0}, err
}
func (w *arena) GroupNames(context.Context, string) ([]string, error) { return nil, nil }
func (w *arena) RoleNames(context.Context, string) ([]string, error)  { return nil, nil }
func (w *arena) ClaimFacts(context.Context, string) (*schemas.ClaimFacts, error) {
	return &schemas.ClaimFacts{}, nil
}
func (w *arena) ServerClaims(context.Context, []string) ([]schemas.ResourceServer, error) {
	return nil, nil
}

func (w *arena) IdentityScopes(context.Context, *schemas.OAuthProfile) ([]string, error) {
	return schemas.IdentityScopes(), nil
}
func (w *arena) RegisteredScopes(context.Context, string) ([]string, error) { return nil, nil }
func (w *arena) CheckUser(context.Context, *schemas.User) error             { return nil }
func (w *arena) UserType(context.Context, string) (*schemas.UserType, error) {
	person := schemas.Person()
	return &person, nil
}
func (w *arena) Hash(_ context.Context, password string) (string, error) { return "#" + password, nil }
func (w *arena) Verify(_ context.Context, phc, password string) (ok, rehash bool, err error) {
	return phc == "#"+password, false, nil
}
func (w *arena) Seal(text []byte, _ string) []byte            { return bytes.Clone(text) }
func (w *arena) Open(sealed []byte, _ string) ([]byte, error) { return bytes.Clone(sealed), nil }
func (w *arena) AssertionTTL() time.Duration                  { return time.Hour }
func (w *arena) Assert(_ context.Context, a schemas.Assertion) (string, error) {
	w.assertion = &a
	return "assertion", nil
}
func (w *arena) Mail(_ context.Context, _ string, mail schemas.Mail, now time.Time) (schemas.Delivery, error) {
	body, err := json.Marshal(mail)
	return schemas.Delivery{ID: schemas.NewID(), Kind: schemas.MailDelivery, Body: body, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}, err
}

// newArena stores the victim, who has a password and a verified address.
func newArena(t *testing.T, r *rand.Rand, flows map[string]*schemas.Flow, means chains.Means) *arena {
	t.Helper()
	w := &arena{
		Memory: flowtest.NewMemory(), t: t, random: r, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), graphs: map[string]*engine.Graph{},
		means: means, device: passkeytest.New(passkeytest.Seed(t.Name())), password: "grey lantern harbour",
	}
	if means.Password {
		w.password = victimPassword
	}
	var err error
	if w.ceremonies, err = passkey.New(passkey.Config{Origins: []string{playOrigin}, Now: func() time.Time { return w.now }}); err != nil {
		t.Fatal(err)
	}
	kinds := nodes.Kinds(nodes.Deps{
		Store: w, Directory: w, Hasher: w, Asserter: w, Mails: w, Box: w, Ceremonies: w.ceremonies, BaseURL: playOrigin, DecoySecret: make([]byte, 32),
	})
	for id, f := range flows {
		g, problems := engine.CompileStored(f, kinds)
		if g == nil {
			t.Fatal(problems)
		}
		w.graphs[id] = g
	}
	w.engine = engine.NewEngine(engine.Engine{Runs: w, Graphs: w, Applications: w, MaxFailures: 5, Now: func() time.Time { return w.now }})
	victim := schemas.User{
		ID: victimID, Type: "Person", Status: schemas.UserActive, CreatedAt: w.now, UpdatedAt: w.now,
		Attributes: map[string]any{"username": victimName, "email": "ada@example.org", schemas.EmailVerified: true},
	}
	err = w.Apply(t.Context(), []schemas.Change{
		schemas.CreateUser{User: victim}, schemas.SetPassword{UserID: victimID, ID: schemas.NewID(), Hash: "#" + victimPassword, At: w.now},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// run plays one run of a flow and returns the class of the victim's tokens, "" for none.
func (w *arena) run(id string) string {
	w.assertion = nil
	ctx, request := w.t.Context(), engine.Request{Origin: playOrigin, Session: w.session}
	step, err := w.engine.Start(ctx, w.graphs[id], &schemas.Application{ID: id, Name: id}, nil, request)
	for range 12 {
		if err != nil || step.FlowStatus != schemas.Incomplete {
			break
		}
		w.now = w.now.Add(31 * time.Second) // each code of an app is valid once
		action, inputs := w.answer(step)
		var next *schemas.Step
		next, err = w.engine.Continue(ctx, engine.Reply{ExecutionID: step.ExecutionID, Action: action, Inputs: inputs, ChallengeToken: step.ChallengeToken}, request)
		if err == nil {
			w.take(step, inputs, next)
			step = next
		}
	}
	if w.assertion == nil || w.assertion.Subject != victimID {
		return ""
	}
	return w.assertion.ACR
}

// answer answers a step with what the attacker has, by a random action.
func (w *arena) answer(s *schemas.Step) (action string, inputs map[string]string) {
	data, inputs := s.Data, map[string]string{}
	if n := len(data.Actions); n > 0 {
		action = data.Actions[w.random.IntN(n)].Ref
	}
	for _, in := range data.Inputs {
		switch in.Identifier {
		case "username":
			inputs[in.Identifier] = victimName
		case "password":
			inputs[in.Identifier] = w.password
			if len(data.FieldErrors) > 0 { // it is the current one already
				inputs[in.Identifier] += " again"
			}
		case "code", "otp":
			inputs[in.Identifier] = w.typedCode(in.Identifier)
		case "recoveryCode":
			if len(w.codes) > 0 {
				inputs[in.Identifier], w.codes = w.codes[0], w.codes[1:]
			} else {
				inputs[in.Identifier] = "0000"
			}
		}
	}
	if options := data.AdditionalData["passkeyCreationOptions"]; options != "" && action == "passkey" {
		if r, err := w.device.Register(json.RawMessage(options), playOrigin); err == nil {
			return action, map[string]string{"credentialId": r.ID, "clientDataJSON": r.ClientDataJSON, "attestationObject": r.AttestationObject}
		}
	}
	if options := data.AdditionalData["passkeyChallenge"]; options != "" && action == "passkey" {
		if r, err := w.device.Authenticate(json.RawMessage(options), playOrigin); err == nil {
			return action, map[string]string{
				"credentialId": r.ID, "clientDataJSON": r.ClientDataJSON, "authenticatorData": r.AuthenticatorData, "signature": r.Signature, "userHandle": r.UserHandle,
			}
		}
	}
	if secret := data.AdditionalData["totpSecret"]; secret != "" {
		w.offered = totp.Key{Secret: secret, Algorithm: totp.SHA1, Digits: 6}
		code, err := w.offered.Code(w.now)
		if err != nil {
			w.t.Fatal(err)
		}
		inputs["otp"] = code
	}
	return action, inputs
}

// typedCode returns a mailed code or one of the attacker's app, or else one that was not mailed: in
// so many runs the same guess would be right now and then.
func (w *arena) typedCode(identifier string) string {
	mails := w.Mails()
	switch {
	case identifier == "otp" && w.key != nil:
		if code, err := w.key.Code(w.now); err == nil {
			return code
		}
	case w.means.Mailbox && len(mails) > 0:
		return mails[len(mails)-1].Code
	}
	for guess := range 1000000 {
		wrong := fmt.Sprintf("%06d", guess)
		if !slices.ContainsFunc(mails, func(m schemas.Mail) bool { return m.Code == wrong }) {
			return wrong
		}
	}
	return "" // not reached: there are fewer mails
}

// take keeps what an answered step gave to the attacker.
func (w *arena) take(asked *schemas.Step, inputs map[string]string, next *schemas.Step) {
	if next.Error != nil || next.StepID == asked.StepID && next.FlowStatus == schemas.Incomplete {
		return
	}
	if asked.Data.AdditionalData["totpSecret"] != "" {
		offered := w.offered
		w.key = &offered
	}
	if codes := asked.Data.AdditionalData["recoveryCodes"]; codes != "" {
		datatest.Unmarshal(w.t, []byte(codes), &w.codes)
	}
	if inputs["password"] != "" && slices.ContainsFunc(w.Events(), func(e schemas.Event) bool { return e.Action == "password.set" }) {
		w.password = inputs["password"]
	}
}

// playedFlows are the flows of random systems.
func playedFlows() []string {
	return []string{
		"password", "code", "passkey-any", "recovery-alone", "password-app", "guarded password", "guarded passkey", "guarded two factors",
		"code to passkey", "code to password", "code to app", "code to recovery codes", "password to passkey", "password to app",
		"password to recovery codes", "waived code to passkey", "waived code to password", "recovery to passkey",
	}
}

// playedFlow returns the definition of a flow.
func playedFlow(t testing.TB, name string) *schemas.Flow {
	t.Helper()
	more := map[string]string{
		"recovery-alone":      sequence("recovery-code"),
		"password-app":        sequence("password-authenticate", "totp {alone: true}"),
		"guarded password":    sequence("password-authenticate") + "\nguarantees: {acr: 'urn:postern:acr:password'}",
		"guarded passkey":     goodFlows["passkey-any"] + "\nguarantees: {acr: phr}",
		"guarded two factors": sequence("password-authenticate", "totp {alone: true}") + "\nguarantees: {acr: 'urn:postern:acr:mfa'}",
		"recovery to passkey": sequence("recovery-code", "passkey-register"),
	}
	body := more[name] + goodFlows[name]
	if more[name] != "" {
		body = more[name]
	}
	for _, l := range launderings() {
		if l.name == name {
			body = l.flow
		}
	}
	header, tail, _ := strings.Cut(body, done)
	text := "handle: " + strings.ReplaceAll(name, " ", "-") + "\nname: X\nflowType: AUTHENTICATION" + tail + "\nnodes:" + header + done + "\n"
	f, _, problems := schemas.ParseFlow([]byte(text), true)
	if f == nil {
		t.Fatalf("%s: %v\n%s", name, problems, text)
	}
	f.ID, f.ActiveVersion = f.Handle, 1
	return f
}

// TestPlayedChains compares the analysis with what an attacker gets from the running engine.
func TestPlayedChains(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and in one goroutine")
	}
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 16))
		flows := map[string]*schemas.Flow{}
		system := &schemas.SignInSystem{Flows: flows}
		for range 2 + r.IntN(3) {
			f := playedFlow(t, playedFlows()[r.IntN(len(playedFlows()))])
			if flows[f.ID] == nil {
				flows[f.ID] = f
				system.Applications = append(system.Applications, schemas.SystemApplication{ID: f.ID, Name: f.ID, FlowIDs: []string{f.ID}})
			}
		}
		means := chains.Means{Mailbox: r.IntN(3) > 0, Password: r.IntN(2) > 0}
		comparePlay(t, fmt.Sprintf("seed %d", seed), r, system, means)
	}
}

// comparePlay plays runs, starting again from the beginning now and then.
func comparePlay(t *testing.T, what string, r *rand.Rand, system *schemas.SignInSystem, means chains.Means) {
	t.Helper()
	report, err := (&chains.Checker{Kinds: nodes.Kinds(nodes.Deps{})}).Analyze(t.Context(), system)
	if err != nil {
		t.Fatal(err)
	}
	got := map[chains.Target]bool{}
	for i := range 12 {
		w := newArena(t, r, system.Flows, means)
		for j := range 30 {
			app := system.Applications[r.IntN(len(system.Applications))].ID
			if j == 0 { // each is the first sometimes: a run can end the condition of a later one
				app = system.Applications[i%len(system.Applications)].ID
			}
			for _, class := range schemas.PlainACRs(w.run(app)) {
				got[chains.Target{Application: app, Class: class}] = true
			}
		}
	}
	for target := range got {
		if !report.Reaches(target, means) {
			t.Errorf("%s: %v: the attacker gets %s with %s, which the analysis does not report", what, names(system), target, means)
		}
	}
	for _, way := range report.Ways {
		reached := got[chains.Target{Application: way.Target.Application, Class: way.Target.Class}]
		possible := means == way.Means || means.Mailbox && means.Password && !way.Means.Manager
		possible = possible || way.Means == (chains.Means{})
		// A run of a chain can end a condition of a later one: such a way is reported, and impossible.
		possible = possible && (len(way.Conditions) == 0 || len(way.Chain) == 1) && !onlyAttested(way)
		if way.Target.Credential == "" && possible && !reached && !slices.Contains(way.Conditions, "the user has no verified address") {
			t.Errorf("%s: %v: the analysis reports %s, which the attacker does not get", what, names(system), way)
		}
	}
}

// onlyAttested reports whether a way needs an attested authenticator, which the attacker of these
// tests has not.
func onlyAttested(w chains.Way) bool { return w.Target.Class == schemas.ACRPhishingResistantProtected }

func names(s *schemas.SignInSystem) (list []string) {
	for _, a := range s.Applications {
		list = append(list, a.ID)
	}
	return list
}
