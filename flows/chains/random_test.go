package chains_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

var randomSystems = flag.Int("systems", 300, "the number of random systems that the adversary attacks")

// TestAdversary compares the analysis with the adversary on random systems: what can be reached,
// with which means, and in how many runs.
func TestAdversary(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and in one goroutine")
	}
	for seed := range *randomSystems {
		w := randomWorld(rand.New(rand.NewPCG(uint64(seed), 15)))
		r, err := chains.Analyze(t.Context(), w.system())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if difference := compareReports(r, w); difference != "" {
			t.Fatalf("seed %d: %s\n%s", seed, difference, w)
		}
	}
}

func compareReports(r *chains.Report, w *world) string {
	fewest := map[chains.Means]map[goal]int{}
	for i := range 8 {
		m := chains.Means{Mailbox: i&1 != 0, Password: i&2 != 0, Manager: i&4 != 0}
		fewest[m] = w.attack(m.Mailbox, m.Password, m.Manager)
		for g := range fewest[m] {
			if !r.Reaches(chains.Target{Application: g.app, Credential: name(g.credential), Class: g.class}, m) {
				return fmt.Sprintf("the adversary gets %+v with %v", g, m)
			}
		}
	}
	for _, way := range r.Ways {
		n, ok := fewest[way.Means][goal{way.Target.Application, adversaryName(way.Target.Credential), way.Target.Class}]
		if !ok || n > len(way.Chain) {
			return fmt.Sprintf("the analysis gets %+v with %v in %d runs, the adversary in %d (%t): %+v", way.Target, way.Means, len(way.Chain), n, ok, way.Chain)
		}
	}
	return ""
}

// namesInReports are the adversary's names of credentials, and those of reports.
var namesInReports = map[string]string{"totp": "authenticator app", "recovery": "recovery codes"}

func name(credential string) string {
	if n, ok := namesInReports[credential]; ok {
		return n
	}
	return credential
}

func adversaryName(credential string) string {
	for other, n := range namesInReports {
		if n == credential {
			return other
		}
	}
	return credential
}

// outcomes are the kinds of nodes that random flows have, and their outcomes.
var outcomes = map[string][]string{
	"prompt": {"go", "other"}, "user-resolve": {"found", "missing"}, "user-create": {"created", "taken"},
	"password-authenticate": {"success", "failure"}, "passkey-authenticate": {"success", "failure"}, "totp": {"success", "failure", "none"},
	"recovery-code": {"success", "failure"}, "invitation": {"success", "failure"}, "email-otp": {"success", "failure", "missing", "unavailable"}, "federated-oidc": {"success", "unknown", "failure"},
	"email-change": {"success", "failure", "unavailable"}, "attributes": {"done", "skip"},
	"session-check": {"active", "none"}, "password-set": {"success"}, "passkey-register": {"success", "skip"},
	"totp-register": {"success", "kept"}, "recovery-codes": {"success", "kept"}, "federated-link": {"success", "taken"}, "authorization-code": {},
}

var kinds = []string{"prompt", "user-resolve", "user-create", "password-authenticate", "passkey-authenticate", "totp", "recovery-code", "email-otp",
	"federated-oidc", "invitation", "session-check", "password-set", "passkey-register", "email-change", "attributes", "totp-register", "recovery-codes", "federated-link"}

// randomWorld returns one to three applications with one to three flows of up to seven nodes.
// The flows need not compile: an unsafe flow is as good a test.
func randomWorld(r *rand.Rand) *world {
	w := &world{noMail: r.IntN(8) == 0}
	for i := range 1 + r.IntN(3) {
		a := app{id: fmt.Sprint("app", i), account: r.IntN(4) == 0, manages: r.IntN(6) == 0, unlimited: r.IntN(8) == 0}
		for j := range 1 + r.IntN(3) {
			a.flows = append(a.flows, randomFlow(r, fmt.Sprintf("flow%d-%d", i, j)))
		}
		w.apps = append(w.apps, a)
	}
	return w
}

func randomFlow(r *rand.Rand, name string) graph {
	g := graph{name: name}
	if r.IntN(3) == 0 {
		g.guarantee = schemas.ACRs()[r.IntN(len(schemas.ACRs()))]
	}
	n := 2 + r.IntN(5)
	for i := range n {
		kind := kinds[r.IntN(len(kinds))]
		if i == 0 && r.IntN(2) == 0 {
			kind = "user-resolve"
		}
		v := vertex{kind: kind, with: map[string]string{}, next: map[string]int{}, waived: r.IntN(10) == 0}
		switch kind {
		case "passkey-authenticate":
			v.with["mode"] = []string{"auto", "identified", "usernameless"}[r.IntN(3)]
			if r.IntN(3) == 0 {
				v.with["userVerification"] = "required"
			}
		case "federated-oidc":
			v.with["provider"] = []string{"acme", "corp"}[r.IntN(2)]
		case "session-check":
			v.with["acr"] = schemas.ACRs()[r.IntN(len(schemas.ACRs()))]
		}
		for _, o := range outcomes[kind] {
			v.next[o] = min(i+1+r.IntN(3), n)
			if r.IntN(6) == 0 {
				v.next[o] = r.IntN(n + 1)
			}
		}
		g.nodes = append(g.nodes, v)
	}
	g.nodes = append(g.nodes, vertex{kind: "authorization-code"})
	return g
}

// system converts a world to the terms of the analysis.
func (w *world) system() *chains.System {
	s := &chains.System{NoMail: w.noMail}
	for _, a := range w.apps {
		application := chains.Application{ID: a.id, Name: a.id, Account: a.account, ManagesUsers: a.manages, Unlimited: a.unlimited}
		for _, g := range a.flows {
			f := chains.Flow{Name: g.name, Guarantee: g.guarantee}
			for i, v := range g.nodes {
				n := engine.Node{ID: fmt.Sprint("n", i), Kind: v.kind}
				declared := v.effects()
				for _, o := range outcomes[v.kind] {
					n.Edges = append(n.Edges, engine.Edge{Outcome: o, Target: fmt.Sprint("n", v.next[o]), Effect: declared[o]})
				}
				n.Completes = v.kind == "authorization-code"
				if v.waived {
					n.Waived = []string{engine.RuleChain}
				}
				f.Nodes = append(f.Nodes, n)
			}
			application.Flows = append(application.Flows, f)
		}
		s.Applications = append(s.Applications, application)
	}
	return s
}

// effects returns what the kind of a node declares of its outcomes, which is what the adversary checks.
func (v vertex) effects() map[string]engine.Effect {
	next := schemas.Next{By: map[string]string{}}
	with := map[string]any{}
	for member, value := range v.with {
		with[member] = value
	}
	for _, o := range outcomes[v.kind] {
		next.By[o] = "next"
		with["optional"] = with["optional"] == true || o == "skip"
	}
	if v.kind == "attributes" {
		with["identifying"] = true
	}
	if v.kind == "prompt" {
		with["actions"] = []map[string]string{{"ref": "go"}, {"ref": "other"}}
	}
	config := &engine.Config{Node: &schemas.Node{Use: v.kind, Next: next}, Collected: func() engine.Collected { return engine.Collected{Partial: true} }}
	var err error
	if config.With, err = json.Marshal(with); err != nil {
		panic(err)
	}
	kind := declaredKinds[v.kind]
	list := kind.Outcomes
	if exec, _ := kind.New(config); exec != nil {
		if configured, ok := exec.(engine.OutcomeConfigurer); ok {
			list = configured.Outcomes()
		}
	}
	effects := map[string]engine.Effect{}
	for _, o := range list {
		effects[o.Name()] = o.Effect()
	}
	for _, o := range outcomes[v.kind] {
		if _, declared := effects[o]; !declared {
			panic(fmt.Sprintf("%s has no outcome %s with %s", v.kind, o, config.With))
		}
	}
	return effects
}

var declaredKinds = nodes.Kinds(nodes.Deps{})

func (w *world) String() string {
	text := fmt.Sprintf("no mail server: %t\n", w.noMail)
	for _, a := range w.apps {
		text += fmt.Sprintf("%s account=%t manages=%t unlimited=%t\n", a.id, a.account, a.manages, a.unlimited)
		for _, f := range a.flows {
			text += "  " + f.name + " guarantees " + f.guarantee + "\n"
			for i, v := range f.nodes {
				text += fmt.Sprintf("    %d %s %v %v waived=%t\n", i, v.kind, v.with, v.next, v.waived)
			}
		}
	}
	return text
}
