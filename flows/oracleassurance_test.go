package flows_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// The oracle derives the strength of a sign-in from the methods that the adversary used. It
// shares no order of classes with the server.

// assurance is how much was proved, and whether a passkey was used.
type assurance struct {
	factors   int // 0 the word of others, 1 a recovery code, 2 a code, 3 one strong factor, 4 two
	resistant int // 1: a passkey, 2: an attested one
}

func (w assurance) covers(v assurance) bool {
	return w.factors >= v.factors && w.resistant >= v.resistant
}

// classes are the meanings of class names in the oracle.
func classes() map[string]assurance {
	const own = "urn:postern:acr:"
	return map[string]assurance{
		"": {}, own + "vouched": {}, own + "recovery": {1, 0}, own + "otp": {2, 0}, own + "password": {3, 0}, own + "mfa": {4, 0},
		"phr": {3, 1}, "phrh": {3, 2}, own + "mfa-phr": {4, 1}, own + "mfa-phrh": {4, 2},
	}
}

// worthOf returns the assurance of methods. A passkey without user verification counts as
// possession only.
func worthOf(methods []string) (w assurance) {
	used := func(method string) bool { return slices.Contains(methods, method) }
	for factors, method := range []string{"email", "recovery", "otp", "pwd"} {
		if used(method) {
			w.factors = factors
		}
	}
	if used("pop") {
		w = assurance{3, 1}
	}
	if used("user") || used("pwd") && (used("pop") || used("otp") || used("recovery")) {
		w.factors = 4
	}
	return w
}

// promise is what every completed run must have proved, and what nodes demand of sessions.
type promise struct {
	least    assurance
	methods  []string
	sessions map[string]assurance // by node
}

// promised returns the result of the analysis for a flow.
func promised(g *engine.Graph) *promise {
	guarantees := g.Guarantees()
	p := &promise{least: classes()[guarantees.ACR], methods: guarantees.AMR, sessions: map[string]assurance{}}
	for _, s := range g.Sessions() {
		p.sessions[strings.ReplaceAll(s.Node, ".", "-")] = classes()[s.ACR] // see flat
	}
	return p
}

// completes ends a run: it checks whether its new user can be found again, and what the run has
// proved.
func (o *oracle) completes(m situation) {
	o.verdict.lost = o.verdict.lost || m.who == fresh && !m.found
	if o.promise == nil || !m.proved {
		return
	}
	methods := strings.Fields(m.shown)
	lacks := func(method string) bool { return !has(methods, method) }
	if !worthOf(methods).covers(o.promise.least) || slices.ContainsFunc(o.promise.methods, lacks) {
		o.verdict.weak = "a run completes by " + m.shown
	}
}

// has reports whether the methods are among those that a token would state, including mfa.
func has(methods []string, method string) bool {
	return slices.Contains(methods, method) || method == "mfa" && worthOf(methods).factors == 4
}

// showing authenticates the user by methods, in addition to others.
func (o *oracle) showing(m situation, methods ...string) situation {
	m.proved = true
	if o.promise == nil {
		return m
	}
	all := append(strings.Fields(m.shown), methods...)
	slices.Sort(all)
	m.shown = strings.Join(slices.Compact(all), " ")
	return m
}

// enrolled gives a user of the run's own a credential. It is a proof only of a user that the run
// created.
func (o *oracle) enrolled(m situation, methods ...string) situation {
	if m.who == fresh {
		return o.showing(m, methods...)
	}
	m.proved = m.own()
	return m
}

// key returns the methods of the weakest passkey that is accepted.
func key(c config) []string {
	if c.UserVerification == "required" {
		return []string{"pop", "user"}
	}
	return []string{"pop"}
}

// sessions are the sessions of the adversary that the node accepts, each with its methods.
func (o *oracle) sessions(n schemas.Node, c config) (list [][]string) {
	if o.promise == nil {
		return [][]string{nil}
	}
	for _, text := range []string{"email", "recovery", "otp", "pwd", "pop", "pop user", "otp pwd", "pwd recovery", "pop pwd", "otp pop"} {
		methods := strings.Fields(text)
		lacks := func(method string) bool { return !has(methods, method) }
		demanded := slices.Concat(c.Methods, o.flow.Guarantees.Methods())
		if worthOf(methods).covers(o.promise.sessions[n.ID]) && !slices.ContainsFunc(demanded, lacks) {
			list = append(list, methods)
		}
	}
	return list
}

// withoutSessions is the flow for users without a session.
func withoutSessions(f *schemas.Flow) *schemas.Flow {
	alone := clone(f)
	for i := range alone.Nodes {
		if n := &alone.Nodes[i]; n.Use == "session-check" {
			if n.Next.By != nil {
				n.Next.To = n.Next.By["none"]
			}
			// It asks nothing and decides nothing.
			n.Use, n.With, n.Next.By = "decision", json.RawMessage(`{"cases": [{"when": "false", "outcome": "never"}]}`), nil
		}
	}
	alone.Guarantees, alone.Waive = schemas.Guarantees{}, nil
	return alone
}

// compareProofs checks that the proven guarantees of a flow hold of every walk, and that no
// session admits a user with less than users without a session need.
func (n *tally) compareProofs(t testing.TB, what string, flow *schemas.Flow, g *engine.Graph, kinds engine.Kinds) {
	p := promised(g)
	if got := checkWith(flow, p); got.weak != "" {
		t.Errorf("%s: accepted as %+v, and %s", what, g.Guarantees(), got.weak)
	}
	waived := slices.ContainsFunc(flow.Waive, func(w schemas.Waiver) bool { return w.Rule == engine.RuleSession })
	if len(p.sessions) == 0 || waived {
		return
	}
	alone, _ := engine.Compile(withoutSessions(flow), kinds)
	if alone == nil {
		return // without sessions it is no flow
	}
	n.withSessions++
	p.least, p.methods = classes()[alone.Guarantees().ACR], nil
	if got := checkWith(flow, p); got.weak != "" {
		t.Errorf("%s: without a session %s is needed, and %s", what, alone.Guarantees().ACR, got.weak)
	}
}

// checkStrength checks that an existing user has proved enough to get a credential.
func (o *oracle) checkStrength(m situation, kind string, waived bool) {
	needed := map[string]int{"passkey-register": 3, "password-set": 3, "email-change": 3, "totp-register": 2, "recovery-codes": 1}[kind]
	if o.promise != nil && m.proved && m.who == attacker && !waived && worthOf(strings.Fields(m.shown)).factors < needed {
		o.verdict.weak = kind + " gives a credential after " + m.shown
	}
}
