package chains_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// who identifies a user by a name, done ends a sign-in.
const (
	who = `
  - id: who
    use: prompt
    with: {inputs: [{identifier: username, type: TEXT_INPUT, required: true}], actions: [{ref: continue}]}
    next: find
  - {id: find, use: user-resolve, with: {by: [username, email], from: username, conceal: true}, next: FIRST}`
	done = `
  - {id: done, use: authorization-code}`
)

// sequence is a flow that identifies a user, and visits nodes one after the other.
func sequence(nodes ...string) string {
	text, rest := who, ""
	for i, n := range nodes {
		id, next := fmt.Sprint("n", i), fmt.Sprint("n", i+1)
		if i == len(nodes)-1 {
			next = "done"
		}
		use, with, _ := strings.Cut(n, " ")
		if with != "" {
			with = ", with: " + with
		}
		outcome := "success: " + next
		switch use {
		case "attributes":
			outcome = "done: " + next
		case "totp":
			outcome = "success: " + next + ", none: " + next
			if with != "" {
				outcome = "success: " + next
			}
		case "totp-register", "recovery-codes":
			outcome = "success: " + next + ", kept: " + next
		}
		rest += fmt.Sprintf("\n  - {id: %s, use: %s%s, next: {%s}}", id, use, with, outcome)
	}
	return strings.Replace(text, "FIRST", "n0", 1) + rest + done
}

// goodFlows give no attacker more than the means that they ask for, for one run: the flows that
// a system of the tests consists of.
var goodFlows = map[string]string{
	"password":         sequence("password-authenticate"),
	"passkey":          sequence("passkey-authenticate {mode: identified, userVerification: required}"),
	"passkey-any":      "\n  - {id: key, use: passkey-authenticate, with: {mode: usernameless}, next: done}" + done,
	"password-passkey": sequence("password-authenticate", "passkey-authenticate {mode: identified}"),
	"code":             sequence("email-otp"),
	"recovery":         sequence("recovery-code", "password-authenticate"),
	"session":          "\n  - {id: s, use: session-check, with: {acr: phr}, next: {active: done, none: key}}\n  - {id: key, use: passkey-authenticate, with: {mode: usernameless}, next: done}" + done,
	"app":              sequence("password-authenticate", "totp {alone: true}"),
}

// laundering is a flow or permission that opens a way, and what it opens.
type laundering struct {
	name    string
	flow    string
	account bool // the application's tokens may change accounts
	manages bool // the application has a client that manages users
	opens   chains.Target
	means   chains.Means
	runs    int
}

var (
	mailbox   = chains.Means{Mailbox: true}
	passwords = chains.Means{Password: true}
)

func credential(kind, class string) chains.Target {
	return chains.Target{Credential: kind, Class: class}
}

// launderings are the twelve kinds.
func launderings() []laundering {
	return []laundering{
		{name: "code to passkey", flow: sequence("email-otp", "passkey-register"), opens: credential("passkey", schemas.ACRVouched), means: mailbox, runs: 1},
		{name: "code to password", flow: sequence("email-otp", "password-set"), opens: credential("password", schemas.ACRVouched), means: mailbox, runs: 1},
		{name: "code to app", flow: sequence("email-otp", "totp-register"), opens: credential("authenticator app", schemas.ACRVouched), means: mailbox, runs: 1},
		{name: "code to recovery codes", flow: sequence("email-otp", "recovery-codes"), opens: credential("recovery codes", schemas.ACRVouched), means: mailbox, runs: 1},
		{name: "password to passkey", flow: sequence("password-authenticate", "passkey-register"), opens: credential("passkey", schemas.ACRPassword), means: passwords, runs: 1},
		{name: "password to app", flow: sequence("password-authenticate", "totp-register"), opens: credential("authenticator app", schemas.ACROneTimeCode), means: passwords, runs: 1},
		{name: "password to recovery codes", flow: sequence("password-authenticate", "recovery-codes"), opens: credential("recovery codes", schemas.ACRRecovery), means: passwords, runs: 1},
		{name: "waived code to passkey", flow: sequence("email-otp", "passkey-register") + "\nwaive: [{rule: chain, node: n1, reason: a clerk checks the passport}]",
			opens: credential("passkey", schemas.ACRMultiFactor), means: mailbox, runs: 1},
		{name: "waived code to password", flow: sequence("email-otp", "password-set") + "\nwaive: [{rule: chain, node: n1, reason: a forgotten password}]",
			opens: credential("password", schemas.ACRPassword), means: mailbox, runs: 1},
		{name: "password to account", flow: sequence("password-authenticate"), account: true, opens: credential("passkey", schemas.ACRPassword), means: passwords, runs: 1},
		{name: "client to password", flow: sequence("passkey-authenticate"), manages: true, opens: credential("password", schemas.ACRPassword), means: chains.Means{Manager: true}, runs: 1},
		{name: "session to passkey", flow: "\n  - {id: s, use: session-check, with: {acr: 'urn:postern:acr:vouched'}, next: {active: key, none: known}}\n  - {id: known, use: passkey-authenticate, with: {mode: usernameless}, next: done}\n  - {id: key, use: passkey-register, next: done}" + done +
			"\nwaive: [{rule: session, node: s, reason: test}]", opens: credential("passkey", schemas.ACRVouched), means: mailbox, runs: 2},
	}
}

var compiled = map[string]chains.Flow{}

func flowOf(t testing.TB, name, body string) chains.Flow {
	t.Helper()
	if f, ok := compiled[name]; ok {
		return f
	}
	header, tail, _ := strings.Cut(body, "\nwaive:")
	source := "handle: " + strings.ReplaceAll(name, " ", "-") + "\nname: X\nflowType: AUTHENTICATION\n"
	if tail != "" {
		source += "waive:" + tail + "\n"
	}
	flow, _, problems := schemas.ParseFlow([]byte(source+"nodes:"+header+"\n"), true)
	if flow == nil {
		t.Fatalf("%s: %v\n%s", name, problems, source)
	}
	g, problems := engine.CompileStored(flow, nodes.Kinds(nodes.Deps{})) // the weak ones are findings
	if g == nil {
		t.Fatalf("%s: %v\n%s", name, problems, source)
	}
	f := chains.FlowOf(g)
	compiled[name] = f
	return compiled[name]
}

// TestLaundering finds every way that is added to systems of two to eight flows.
func TestLaundering(t *testing.T) {
	for seed := range 600 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		kind := launderings()[seed%len(launderings())]
		before := goodSystem(t, r, kind.runs > 1)
		known, err := chains.Analyze(t.Context(), before)
		if err != nil {
			t.Fatal(err)
		}
		after := &chains.System{Applications: slices.Clone(before.Applications)}
		into := r.IntN(len(after.Applications))
		a := &after.Applications[into]
		a.Flows = slices.Insert(slices.Clone(a.Flows), r.IntN(len(a.Flows)+1), flowOf(t, kind.name, kind.flow))
		a.Account, a.ManagesUsers = a.Account || kind.account, a.ManagesUsers || kind.manages
		now, err := chains.Analyze(t.Context(), after)
		if err != nil {
			t.Fatal(err)
		}
		found := slices.IndexFunc(now.New(known), func(w chains.Way) bool { return w.Target == kind.opens && w.Means == kind.means })
		if found < 0 {
			t.Errorf("seed %d: %s: no way to %+v with %v:\n%+v", seed, kind.name, kind.opens, kind.means, now.Ways)
			continue
		}
		if way := now.New(known)[found]; len(way.Chain) != kind.runs {
			t.Errorf("seed %d: %s: %d runs, expected %d: %+v", seed, kind.name, len(way.Chain), kind.runs, way)
		}
	}
}

// TestGoodSystems adds flows that open nothing to systems.
func TestGoodSystems(t *testing.T) {
	for seed := range 50 {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		before := goodSystem(t, r, true)
		known, err := chains.Analyze(t.Context(), before)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range known.Ways {
			if w.Target.Credential != "" {
				t.Errorf("seed %d: %+v", seed, w)
			}
		}
		more := &chains.System{Applications: append(slices.Clone(before.Applications), chains.Application{ID: "more", Name: "More",
			Flows: []chains.Flow{flowOf(t, "passkey", goodFlows["passkey"])}})}
		now, err := chains.Analyze(t.Context(), more)
		if err != nil {
			t.Fatal(err)
		}
		if ways := now.New(known); len(ways) > 0 {
			t.Errorf("seed %d: %+v", seed, ways)
		}
	}
}

// goodSystem returns a system of one to seven good flows at one to three applications; with one
// that signs in by a mailed code, if asked.
func goodSystem(t testing.TB, r *rand.Rand, code bool) *chains.System {
	names := make([]string, 0, len(goodFlows))
	for n := range goodFlows {
		names = append(names, n)
	}
	slices.Sort(names)
	s := &chains.System{}
	for i := range 1 + r.IntN(3) {
		a := chains.Application{ID: fmt.Sprint("a", i), Name: fmt.Sprint("App ", i)}
		if code && i == 0 {
			a.Flows = append(a.Flows, flowOf(t, "code", goodFlows["code"]))
		}
		for range 1 + r.IntN(2) {
			n := names[r.IntN(len(names))]
			a.Flows = append(a.Flows, flowOf(t, n, goodFlows[n]))
		}
		s.Applications = append(s.Applications, a)
	}
	return s
}
