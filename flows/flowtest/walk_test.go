package flowtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// Limits: walks per flow, and steps per walk.
const (
	walksPerFlow = 16
	longestWalk  = 24
)

// randomWalker is an attacker who sends random answers to a run. The walker owns two accounts,
// ada's and eve's, with all their credentials; of bob it knows only the names.
type randomWalker struct {
	*scenarioRun
	ledger  *recordingStore
	r       *rand.Rand
	persona string // user name that the walker mostly enters
	sent    []*engine.Reply
	codes   map[string]string            // identities that a provider has returned without a fault, by their codes
	faulty  map[string]passkeytest.Fault // faults of a device's answers, by signature
	trail   []string
}

// walkFixture returns the walker's environment. The passkeys of both accounts are on one
// device, bob's on his own.
func walkFixture(path string) *File {
	account := func(name, host, password, device string) Given {
		return Given{
			Attributes: map[string]any{"username": name, "email": name + "@" + host, "given_name": name},
			Password:   password, Passkeys: []string{device}, TOTP: name + "'s app", RecoveryCodes: []string{name + "0-" + name + "1"},
			Identities: map[string]string{"corp": name},
		}
	}
	return &File{Flow: path, path: "walks", Users: map[string]Given{
		"ada": account("ada", "walker.example", "the first of two secrets", "phone"),
		"eve": account("eve", "walker.example", "the second of two secrets", "phone"),
		"bob": account("bob", "victim.example", "only bob knows this", "bob's phone"),
	}}
}

// walkCounts counts walks and their results.
type walkCounts struct{ walks, steps, refused, completed, failed, signedIn int }

// A run of a valid flow receives random answers, right and wrong, in random order. At
// every node that the run reaches, all proven facts hold; a signed-in user has used one of
// their own credentials in that run; and only the proven owner of an account, or the run
// that created it, adds a credential to it.
func TestRandomWalks(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and one step after another: run it without -short")
	}
	var n walkCounts
	reached, ways := 0, 0
	list := walkedFlows(t)
	w, err := newEnvironment(walkFixture(list[0]))
	if err != nil {
		t.Fatal(err)
	}
	l := newRecordingStore(w)
	for i, path := range list {
		if err := l.turn(path); err != nil {
			t.Fatal(err)
		}
		for seed := range walksPerFlow {
			p := &randomWalker{ledger: l, r: rand.New(rand.NewPCG(uint64(i), uint64(seed))), faulty: map[string]passkeytest.Fault{}, codes: map[string]string{}}
			if err := p.walk(t, &n); err != nil {
				t.Errorf("%s, walk %d: %v\n%s", path, seed, err, strings.Join(p.trail, "\n"))
				break
			}
			w.count(p.left)
		}
		reached += len(w.reached)
		for _, node := range w.graph.Nodes() {
			ways += max(1, len(node.Edges))
		}
	}
	t.Logf("walks %d, steps %d, of them refused %d; runs completed %d, of them with an assertion %d; ended in ERROR %d; ways out of nodes taken %d of %d",
		n.walks, n.steps, n.refused, n.completed, n.signedIn, n.failed, reached, ways)
	if !t.Failed() && (n.completed < n.walks/10 || n.signedIn < n.walks/20 || reached < ways/2) {
		t.Error("the walks lead nowhere, and tell little")
	}
}

// isSubflow reports whether a file contains a sub-flow, which is walked as part of other
// flows.
func isSubflow(t *testing.T, path string) bool {
	t.Helper()
	text := datatest.ReadFile(t, path)
	return bytes.Contains(text, []byte("flowType: SUBFLOW"))
}

// walkedFlows returns the built-in flows and those of the corpus.
func walkedFlows(t *testing.T) []string {
	t.Helper()
	paths := datatest.Glob(t, "../*.yaml", "../testdata/good/*.yaml")
	list := slices.DeleteFunc(paths, func(path string) bool { return !flows.IsFlow(path) || isSubflow(t, path) })
	if len(list) < 50 {
		t.Fatalf("there are %d flows", len(list))
	}
	return list
}

// chance is true with the given probability in percent.
func (p *randomWalker) chance(percent int) bool { return p.r.IntN(100) < percent }

func pick[T any](p *randomWalker, list ...T) T { return list[p.r.IntN(len(list))] }

// walk walks through one run. The error reports a violated guarantee.
func (p *randomWalker) walk(t *testing.T, n *walkCounts) error {
	n.walks++
	p.persona = pick(p, "ada", "eve", "ada", "bob", "new", "new")
	s := Scenario{Application: json.RawMessage(pick(p, `{}`, `{"name":"Bank"}`)), HTTP: p.randomAnswer()}
	if s.Request.Bound = p.chance(50); s.Request.Bound && p.chance(50) {
		s.Session = &Session{User: pick(p, "ada", "eve"), AMR: pick(p, []string{"pwd"}, []string{"pop", "user"})}
	}
	if s.Request.Bound && p.chance(50) {
		s.Request.Scopes = []string{"openid", "profile"}
	}
	if err := p.ledger.reset(t.Context(), s); err != nil {
		return err
	}
	p.ledger.open()
	p.scenarioRun = &scenarioRun{environment: p.ledger.environment, answers: map[string]map[string]string{}}
	p.engine.Observe = func(_ *engine.Graph, node, outcome string) { p.left = append(p.left, Exit{node, outcome}) }
	if err := p.scenarioRun.open(t.Context()); err != nil {
		return err
	}
	if s.Session != nil { // which authenticates its user as soon as the browser sends it
		p.ledger.proved[userID(s.Session.User)] = true
	}
	for range longestWalk {
		over, err := p.advance(t, n)
		if err != nil || over {
			return err
		}
	}
	return nil
}

// randomAnswer returns more answers than a walk has queries for the services of the corpus.
func (p *randomWalker) randomAnswer() map[string][]Answer {
	list := make([]Answer, 8*longestWalk)
	for i := range list {
		list[i] = pick(p, Answer{JSON: json.RawMessage(`{"score":3,"known":false,"tier":"gold"}`)}, Answer{JSON: json.RawMessage(`{"score":93.5,"known":true,"tier":""}`)},
			Answer{Status: 500}, Answer{Error: "timeout"}, Answer{JSON: json.RawMessage(`{"score":"high"}`)})
	}
	return map[string][]Answer{"risk": list, "crm": list}
}

// advance sends one request and checks the reply.
func (p *randomWalker) advance(t *testing.T, n *walkCounts) (over bool, err error) {
	n.steps++
	step, err := p.send(t)
	if len(p.ledger.broken) > 0 {
		return true, errors.New(strings.Join(p.ledger.broken, "; "))
	}
	var refused *schemas.Error
	switch {
	case errors.As(err, &refused):
		n.refused++
		p.trail = append(p.trail, "  refused: "+refused.Code)
		return len(p.steps) == 0, nil
	case err != nil:
		return true, err
	}
	p.steps = append(p.steps, step)
	p.trail = append(p.trail, fmt.Sprintf("  %s at %q", step.FlowStatus, step.StepID))
	switch step.FlowStatus {
	case schemas.Failed:
		n.failed++
	case schemas.Complete:
		n.completed++
		if step.Assertion != "" {
			n.signedIn++
		}
		run, err := p.ledger.Run(t.Context(), step.ExecutionID)
		if err != nil {
			return true, err
		}
		p.ledger.ended(step, run)
	}
	if len(p.ledger.broken) > 0 {
		return true, errors.New(strings.Join(p.ledger.broken, "; "))
	}
	return step.FlowStatus != schemas.Incomplete, nil
}

// send starts the run, requests its step again, or answers it: sometimes with an earlier
// answer, an old token, or from another browser.
func (p *randomWalker) send(t *testing.T) (*schemas.Step, error) {
	w := p.ledger.environment
	req := p.browser.request(w.now)
	if len(p.steps) == 0 {
		return p.engine.Start(t.Context(), w.graph, &w.app, nil, req)
	}
	w.now = w.now.Add(time.Duration(1+p.r.IntN(40)) * time.Second)
	last := p.steps[len(p.steps)-1]
	if p.chance(4) {
		req = browser{}.request(w.now)
	}
	if p.chance(6) {
		return p.engine.Resume(t.Context(), last.ExecutionID, "", req)
	}
	reply := p.reply(last)
	if len(p.sent) > 0 && p.chance(8) {
		again := *pick(p, p.sent...)
		if p.chance(50) {
			again.ChallengeToken = last.ChallengeToken
		}
		reply = &again
	}
	if p.chance(4) {
		reply.ChallengeToken = pick(p, p.steps...).ChallengeToken
	}
	p.check(t, last, reply.Inputs)
	p.sent = append(p.sent, reply)
	p.trail = append(p.trail, fmt.Sprintf("%s %v %s", reply.Action, reply.Inputs, p.faulty[reply.Inputs["signature"]]))
	return p.engine.Continue(t.Context(), *reply, req)
}

// reply generates an answer to a step.
func (p *randomWalker) reply(step *schemas.Step) *engine.Reply {
	r := &engine.Reply{ExecutionID: step.ExecutionID, ChallengeToken: step.ChallengeToken, Inputs: map[string]string{}}
	if actions := step.Data.Actions; len(actions) > 0 {
		r.Action = pick(p, actions...).Ref
		if p.chance(40) {
			r.Action = actions[0].Ref
		}
	}
	for _, in := range step.Data.Inputs {
		if in.Required && !p.chance(3) || p.chance(70) {
			r.Inputs[in.Identifier] = p.value(step, in)
		}
	}
	if provider := providerOf(step); provider != "" && p.chance(85) {
		maps.Copy(r.Inputs, p.outsideAnswer(provider))
	}
	if p.chance(85) {
		for name, value := range p.passkey(step) {
			r.Inputs[name] = value
		}
	}
	return r
}

// passkey returns an answer of the walker's device, if the step offers a ceremony.
func (p *randomWalker) passkey(step *schemas.Step) map[string]string {
	if step.Data.AdditionalData["passkeyCreationOptions"] == "" && step.Data.AdditionalData["passkeyChallenge"] == "" {
		return nil
	}
	c := Ceremony{Device: pick(p, "phone", "phone", "phone", "new phone"), Old: p.chance(4), Replay: p.chance(4)}
	if p.chance(25) {
		c.As = pick(p, "ada", "eve", "bob")
	}
	if p.chance(25) {
		c.Fault = string(pick(p, passkeytest.Faults()...))
	}
	inputs, err := p.ceremony(c)
	if err != nil {
		return nil // the device declines, or the fault has no meaning here
	}
	if _, before := p.faulty[inputs["signature"]]; !before { // a replayed answer has its original fault
		p.faulty[inputs["signature"]] = passkeytest.Fault(c.Fault)
	}
	return inputs
}

// outsideAnswer returns the result of a sign-in at a provider. The walker can be any subject
// there but bob, and can claim any address.
func (p *randomWalker) outsideAnswer(provider string) map[string]string {
	f := Federated{Subject: pick(p, "ada", "eve", "new", "newer"), Old: p.chance(4), Replay: p.chance(8)}
	f.Claims = map[string]any{"email": pick(p, "ada", "bob", "new") + "@" + pick(p, "walker.example", "victim.example"), "given_name": "Eve"}
	if p.chance(25) {
		f.Fault = string(pick(p, federationtest.Catalog()...).Fault)
	}
	inputs, err := p.signInAtProvider(f)
	if err != nil {
		return nil // the previous step did not redirect, or there is no response to replay yet
	}
	if _, before := p.codes[inputs["code"]]; !before && (f.Fault == "" || !p.strict(f.Fault)) && !f.Replay {
		p.codes[inputs["code"]] = provider + " " + f.Subject
	}
	return inputs
}

// strict reports whether a fault is an error in every run: the age of a sign-in matters
// only with a max_age.
func (p *randomWalker) strict(fault string) bool {
	return fault != "old-sign-in" && fault != "no-sign-in-time"
}

// checkIdentity records the owner of the identity for which a provider issued the code.
func (p *randomWalker) checkIdentity(code string) {
	brought := p.codes[code]
	if brought == "" {
		return
	}
	p.ledger.brought[brought] = true
	for _, i := range all[schemas.Identity](p.ledger.records()) {
		if i.ProviderID+" "+i.Subject == brought {
			p.ledger.proved[i.UserID] = true
		}
	}
}

// value returns an input of the walker.
func (p *randomWalker) value(step *schemas.Step, in schemas.Input) string {
	name := p.persona
	if p.chance(20) {
		name = pick(p, "ada", "eve", "bob", "new", "nobody")
	}
	switch in.Identifier {
	case "username":
		return name
	case "email":
		return name + "@" + pick(p, "walker.example", "walker.example", "victim.example")
	case "password", "newPassword":
		return pick(p, "the first of two secrets", "the second of two secrets", "the second of two secrets!", "a new secret of the user")
	case "code":
		if mails := p.Mails(); len(mails) > 0 && p.chance(85) && readable(mails[len(mails)-1]) {
			return mails[len(mails)-1].Code
		}
		return "00000000"
	case "recoveryCode":
		return pick(p, "ada0-ada1", "eve0-eve1", "aaaa-aaaa")
	}
	if in.Type == schemas.OTPInput {
		device := pick(p, name, "ada", "eve") + "'s app"
		if step.Data.AdditionalData["totpSecret"] != "" {
			device = "new app"
		}
		if device == "bob's app" {
			return "000000"
		}
		code, err := p.totpCode(Code{Device: device})
		if err != nil {
			return "000000"
		}
		return code
	}
	return p.randomText(in)
}

// randomText returns a value that identifies no user.
func (p *randomWalker) randomText(in schemas.Input) string {
	if len(in.Options) > 0 {
		return pick(p, in.Options...)
	}
	switch in.Type {
	case schemas.DateInput:
		return "2000-01-02"
	case schemas.NumberInput:
		return pick(p, "7", "40")
	case schemas.PhoneInput:
		return "+431234567"
	}
	return pick(p, "x", "some words")
}

// readable reports whether the walker receives a mail.
func readable(m schemas.Mail) bool { return strings.HasSuffix(m.To, "@walker.example") }

// It records in the ledger the owners of the credentials in an answer, independent of the result
// of the run.
func (p *randomWalker) check(t *testing.T, step *schemas.Step, inputs map[string]string) {
	w := p.ledger.environment
	if typed := inputs["password"]; typed != "" {
		for _, set := range all[schemas.SetPassword](w.records()) {
			if ok, _, err := w.hasher.Verify(t.Context(), set.Hash, typed); ok && err == nil {
				p.ledger.proved[set.UserID] = true
			}
		}
	}
	for _, name := range []string{"ada", "eve"} {
		code, err := w.codes[name+"'s app"].Code(w.now)
		has := slices.Contains([]string{inputs["otp"], inputs["code"]}, code)
		if err == nil && has || inputs["recoveryCode"] == name+"0-"+name+"1" {
			p.ledger.proved[userID(name)] = true
		}
	}
	p.checkMail(inputs["code"])
	p.checkIdentity(inputs["code"])
	p.checkPasskey(t, step, inputs)
}

// checkMail records the owner of the address that received a code.
func (p *randomWalker) checkMail(code string) {
	w := p.ledger.environment
	for _, m := range p.Mails() {
		if m.Code != code || code == "" {
			continue
		}
		if u := find(w.records(), identifies(m.To, "email")); u != nil {
			p.ledger.proved[u.ID] = true
		} else if draft := p.ledger.subject.Draft; draft != nil && draft.Text("email") == m.To {
			p.ledger.proved[draft.ID] = true
		}
	}
}

// checkPasskey records the owner of the passkey that signed the step's challenge. A device
// still proves its owner if it does not verify the user, omits the user handle or
// miscounts.
func (p *randomWalker) checkPasskey(t *testing.T, step *schemas.Step, inputs map[string]string) {
	var options, client struct{ Challenge string }
	text, err := base64.RawURLEncoding.DecodeString(inputs["clientDataJSON"])
	if err != nil || inputs["signature"] == "" || json.Unmarshal(text, &client) != nil ||
		json.Unmarshal([]byte(step.Data.AdditionalData["passkeyChallenge"]), &options) != nil || options.Challenge != client.Challenge {
		return
	}
	harmless := []passkeytest.Fault{"", passkeytest.NoUserHandle, passkeytest.NoUV, passkeytest.CounterRegress}
	if !slices.Contains(harmless, p.faulty[inputs["signature"]]) {
		return
	}
	id, err := base64.RawURLEncoding.DecodeString(inputs["credentialId"])
	if err != nil {
		return
	}
	if c, err := p.ledger.Credential(t.Context(), id); err == nil {
		p.ledger.proved[c.UserID] = true
	}
}
