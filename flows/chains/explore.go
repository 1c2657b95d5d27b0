package chains

import (
	"fmt"
	"slices"

	"github.com/postern-id/postern/engine"
)

// subject is the user of a run.
type subject int8

const (
	nobody        subject = iota // the run has no user, or one that does not exist
	named                        // the victim, identified but not authenticated
	authenticated                // the victim
	ownAccount                   // a user that the attacker created
)

// state is a place in a run, with everything on which the rest of the run depends.
type state struct {
	node    int
	subject subject
	proved  proof
	gained  itemSet // by this run
}

// isVictim reports whether the run is about the victim.
func (s state) isVictim() bool { return s.subject == named || s.subject == authenticated }

// visit is a state, the items that were used to get there, and the move that led there.
type visit struct {
	state
	used   itemSet
	parent int // index of the visit before, -1 for the first
	edge   int // of the parent's node
}

// Move is a node of a run and the outcome that the run left it with.
type Move struct {
	Node    string `json:"node"`
	Outcome string `json:"outcome,omitempty"`
}

// step is a run with a result: with the used items, the attacker gains others, and tokens of the
// application if the run completes.
type step struct {
	application *Application
	flow        string
	path        []Move
	used, gains itemSet
	token       proof // zero if the run does not complete
}

// replaces reports whether s needs no more than t, and gives at least as much.
func (s *step) replaces(t *step) bool {
	return s.used.within(t.used) && t.gains.within(s.gains) && s.token.covers(t.token) &&
		(s.application == t.application || t.token == proof{})
}

// analysis collects the items and the steps of a system.
type analysis struct {
	system *System
	items  []item
	steps  []step
	strict bool // nothing that is waived is possible
	grown  bool // something new was found in this round
}

// index returns the index of an item, which it adds if it is new.
func (a *analysis) index(i item) int {
	at := slices.Index(a.items, i)
	if at < 0 {
		at = len(a.items)
		a.items, a.grown = append(a.items, i), true
	}
	return at
}

// condition returns the index of a condition on the victim's account.
func (a *analysis) condition(k kind) int { return a.index(item{kind: k}) }

// holdings lists the items of a kind.
func (a *analysis) holdings(k kind) (list []int) {
	for i, it := range a.items {
		if it.kind == k {
			list = append(list, i)
		}
	}
	return list
}

// record adds a step, unless another one replaces it.
func (a *analysis) record(s step) {
	if slices.ContainsFunc(a.steps, func(t step) bool { return t.replaces(&s) }) {
		return
	}
	a.steps = slices.DeleteFunc(a.steps, func(t step) bool { return s.replaces(&t) })
	a.steps, a.grown = append(a.steps, s), true
}

// explore finds the steps of a flow at an application.
func (a *analysis) explore(app *Application, f *Flow) error {
	e := &exploration{analysis: a, application: app, flow: f, seen: map[state][]itemSet{}}
	e.add(visit{state: state{}, parent: -1})
	for i := 0; i < len(e.visits); i++ {
		n := &f.Nodes[e.visits[i].node]
		if n.Kind == "authorization-code" {
			e.complete(i)
		}
		for j := range n.Edges {
			e.leave(i, j)
		}
		if len(a.items) > maximumItem-8 {
			return fmt.Errorf("the flows have more than %d different items", maximumItem)
		}
	}
	return nil
}

// exploration is a breadth-first walk over the states of one flow.
type exploration struct {
	*analysis
	application *Application
	flow        *Flow
	visits      []visit
	seen        map[state][]itemSet
}

// add notes a visit, unless the same state was reached with fewer items.
func (e *exploration) add(v visit) {
	for _, used := range e.seen[v.state] {
		if used.within(v.used) {
			return
		}
	}
	e.seen[v.state] = append(e.seen[v.state], v.used)
	e.visits = append(e.visits, v)
}

// leave follows an edge from a visit, in every way that is possible.
func (e *exploration) leave(from, edge int) {
	n := &e.flow.Nodes[e.visits[from].node]
	for _, v := range e.outcomes(n, n.Edges[edge].Outcome, e.visits[from]) {
		v.parent, v.edge = from, edge
		if v.gained != e.visits[from].gained {
			e.record(step{e.application, e.flow.Name, e.path(from, edge), v.used, v.gained, proof{}})
		}
		if e.strict && isWaived(n) && v.isVictim() && slices.Contains([]string{"success", "active", "done"}, n.Edges[edge].Outcome) {
			continue // the flow accepts what is reached through the node
		}
		if target, more := e.flow.find(n.Edges[edge].Target); more {
			v.node = target
			e.add(v)
		}
	}
}

// complete notes that a run ends with tokens of the application, and a session of the browser.
func (e *exploration) complete(at int) {
	v := e.visits[at]
	if v.subject != authenticated || !v.proved.satisfies(proofOf(e.flow.Guarantee)) {
		return
	}
	gains := v.gained.with(e.index(item{aSession, v.proved}))
	e.record(step{e.application, e.flow.Name, e.path(at, -1), v.used, gains, v.proved})
}

// path returns the moves that lead to a visit and leave its node by the edge.
func (e *exploration) path(at, edge int) (path []Move) {
	for at >= 0 {
		v := e.visits[at]
		n := &e.flow.Nodes[v.node]
		m := Move{Node: n.ID}
		if edge >= 0 {
			m.Outcome = n.Edges[edge].Outcome
		}
		path = append(path, m)
		at, edge = v.parent, v.edge
	}
	slices.Reverse(path)
	return path
}

// outcomes returns the states in which a run can be after it left a node by an outcome; none
// if the attacker cannot cause the outcome.
func (e *exploration) outcomes(n *engine.Node, outcome string, v visit) []visit {
	switch n.Kind + " " + outcome {
	case "user-resolve found":
		v.subject, v.proved = named, proof{}
	case "user-resolve missing":
		v.subject, v.proved = nobody, proof{}
	case "user-create created":
		v.subject, v.proved = ownAccount, proof{}
	case "password-authenticate success":
		return e.authenticate(v, aPassword)
	case "passkey-authenticate success":
		return e.authenticate(e.anyUser(v, n), aPasskey)
	case "totp success":
		return e.authenticate(v, anApp)
	case "totp none":
		return []visit{e.given(v, noApp)}
	case "recovery-code success":
		return e.authenticate(v, codes)
	case "email-otp success":
		if e.system.NoMail {
			return nil
		}
		return e.authenticate(v, aMailbox)
	case "invitation success":
		if e.system.NoMail {
			return nil
		}
		v = e.withoutUser(v)
		return e.authenticate(e.given(v, invited), aMailbox)
	case "email-otp missing":
		return []visit{e.given(v, noAddress)}
	case "email-otp unavailable":
		if !e.system.NoMail {
			return nil
		}
	case "federated-oidc success":
		return e.authenticate(e.withoutUser(v), anIdentity+kind(setting(n, "provider")))
	case "session-check active":
		return e.resume(v, e.flow.Classes[n.ID])
	default:
		return e.enroll(n, outcome, v)
	}
	return []visit{v}
}

// enroll returns the states after an outcome that adds a credential to the account.
func (e *exploration) enroll(n *engine.Node, outcome string, v visit) []visit {
	switch n.Kind + " " + outcome {
	case "password-set success":
		v = e.gain(e.changing(v), n, aPassword)
	case "passkey-register success":
		v = e.gain(e.changing(v), n, aPasskey)
	case "email-change success":
		if e.system.NoMail {
			return nil
		}
		v = e.gain(e.changing(v), n, aMailbox)
	case "email-change unavailable":
		if !e.system.NoMail {
			return nil
		}
	case "totp-register success":
		v = e.gain(v, n, anApp)
	case "totp-register kept":
		v = e.given(v, hasApp)
	case "recovery-codes success":
		v = e.gain(v, n, codes)
	case "recovery-codes kept":
		v = e.given(v, hasCodes)
	case "federated-link success":
		v = e.changing(v)
		for _, provider := range e.providers() {
			v = e.gain(v, n, anIdentity+kind(provider))
		}
	case "attributes done":
		if collectsEmail(n) {
			v = e.gain(e.given(e.changing(v), noAddress), n, aMailbox)
		}
	}
	return []visit{v}
}

// changing returns the state before a change of the account: a user with a second factor must have used
// one.
func (e *exploration) changing(v visit) visit {
	if v.subject == authenticated && !v.proved.holds {
		return e.given(e.given(v, noApp), noCodes)
	}
	return v
}

// authenticate uses each item of a kind to authenticate as the victim. A limited credential must
// lead to what the flow guarantees.
func (e *exploration) authenticate(v visit, k kind) (list []visit) {
	if v.subject == ownAccount {
		return []visit{v}
	}
	if v.subject == nobody {
		return nil
	}
	guarantee := proofOf(e.flow.Guarantee)
	for _, i := range e.holdings(k) {
		w := e.use(v, i)
		if w.subject != authenticated {
			w.subject, w.proved = authenticated, proof{}
		}
		w.proved = w.proved.join(e.items[i].worth)
		if e.items[i].worth == k.nominal() || w.proved.satisfies(guarantee) {
			list = append(list, w)
		}
	}
	return list
}

// use notes that an item is used, unless this run has gained it.
func (e *exploration) use(v visit, i int) visit {
	if !v.gained.has(i) {
		v.used = v.used.with(i)
	}
	return v
}

// given notes that an outcome requires a condition of the victim's account.
func (e *exploration) given(v visit, k kind) visit {
	if v.isVictim() {
		v.used = v.used.with(e.condition(k))
	}
	return v
}

// anyUser lets a passkey name its user where the node permits that.
func (e *exploration) anyUser(v visit, n *engine.Node) visit {
	if mode := setting(n, "mode"); mode == "usernameless" || mode != "identified" && v.subject == nobody {
		return e.withoutUser(v)
	}
	return v
}

// withoutUser lets a credential name its user.
func (e *exploration) withoutUser(v visit) visit {
	if v.subject == nobody || v.subject == ownAccount {
		v.subject = named
	}
	return v
}

// resume uses each session that satisfies the class.
func (e *exploration) resume(v visit, class string) (list []visit) {
	for _, i := range e.holdings(aSession) {
		if worth := e.items[i].worth; worth.covers(proofOf(class)) {
			w := e.use(v, i)
			w.subject, w.proved = authenticated, worth
			if v.subject == authenticated {
				w.proved = worth.join(v.proved)
			}
			list = append(list, w)
		}
	}
	return list
}

// gain adds a credential to the account of the run's user. On the victim's account it is worth
// no more than the run has proved. A waiver lifts that limit: of the rule takeover for a user who
// was only named, and of RuleChain for others.
func (e *exploration) gain(v visit, n *engine.Node, k kind) visit {
	worth := k.nominal()
	waived := isWaived(n)
	switch {
	case v.subject == nobody, v.subject == ownAccount, waived && e.strict:
		return v
	case v.subject == authenticated && !waived:
		worth = worth.limit(v.proved)
	}
	v.gained = v.gained.with(e.index(item{k, worth}))
	return v
}

// providers returns the identity providers whose identities the flow can link.
func (e *exploration) providers() (handles []string) {
	for i := range e.flow.Nodes {
		if n := &e.flow.Nodes[i]; n.Kind == "federated-oidc" {
			handles = append(handles, setting(n, "provider"))
		}
	}
	return handles
}
