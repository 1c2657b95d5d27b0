package chains

import (
	"container/heap"
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
	subjects      = iota
)

// state is a place in a run, with everything on which the rest of the run depends.
type state struct {
	node    int
	subject subject
	proved  proof
}

// isVictim reports whether the run is about the victim.
func (s state) isVictim() bool { return s.subject == named || s.subject == authenticated }

// visit is a state, and the move that led there.
type visit struct {
	state
	cost   cost
	parent *visit // nil for the first
	edge   int    // of the parent's node
	uses   []*holding
	gains  []item
}

// Move is a node of a run and the outcome that the run left it with.
type Move struct {
	Node    string `json:"node"`
	Outcome string `json:"outcome,omitempty"`
}

// exploration is a walk over the states of one flow, the cheapest first.
type exploration struct {
	*search
	*program
	start   *start
	queue   visits
	settled [][]proof // what was proved at each node with each subject
}

// explore follows all runs of a flow that the attacker can make with what is held.
func (s *search) explore(at *start) error {
	e := &exploration{search: s, program: at.program, start: at, settled: make([][]proof, len(at.program.nodes)*subjects)}
	if len(e.nodes) > 0 {
		e.queue = visits{{}}
	}
	for len(e.queue) > 0 {
		v := heap.Pop(&e.queue).(*visit)
		place := &e.settled[v.node*subjects+int(v.subject)]
		if slices.ContainsFunc(*place, func(p proof) bool { return p.covers(v.proved) }) {
			continue // a cheaper run proves at least as much here
		}
		*place = append(*place, v.proved)
		if e.nodes[v.node].completes {
			e.complete(v)
		}
		for i := range e.nodes[v.node].edges {
			if err := e.leave(v, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// leave follows an edge from a visit, in every way that is possible.
func (e *exploration) leave(from *visit, edge int) error {
	n := &e.nodes[from.node]
	to := &n.edges[edge]
	next := visit{state: from.state, cost: from.cost.plus(aMove), parent: from, edge: edge}
	possible := e.outcomes(n, to.effect, next)
	for _, v := range possible {
		if len(v.gains) > 0 {
			e.gained(&run{start: e.start, end: from, edge: edge, uses: v.uses, gains: v.gains}, v.cost.plus(aRun), v.gains)
		}
		if e.strict && n.waived && v.isVictim() && to.effect.IsWaivable() {
			continue // the flow accepts what is reached through the node
		}
		if to.target >= 0 {
			v.node = to.target
			heap.Push(&e.queue, &v)
		}
	}
	return e.budget.spend(1 + len(possible))
}

// complete notes that a run ends with tokens of the application, and a session of the browser.
func (e *exploration) complete(v *visit) {
	if v.subject != authenticated || !v.proved.satisfies(e.guarantee) {
		return
	}
	r := &run{start: e.start, end: v, edge: -1, token: v.proved, gains: []item{{aSession, v.proved}}}
	e.start.tokens.add(&result{worth: v.proved, cost: v.cost.plus(aRun), run: r})
	e.gained(r, v.cost.plus(aRun), r.gains)
	e.useToken(r, v)
}

// useToken adds what a token of the application can do with the account of its user: add
// credentials, and remove a factor. If the sign-in proved nothing that the user holds, the account
// must have no factor.
func (e *exploration) useToken(r *run, v *visit) {
	app := e.start.account
	if app == nil {
		return
	}
	done := &run{start: e.start, application: app, end: v, edge: -1, token: r.token, gains: r.gains, operations: e.tokens}
	at := *v
	if !v.proved.holds {
		for _, k := range []kind{noApp, noCodes} {
			if !e.require(&at, k) {
				return
			}
		}
		done.uses = at.uses[len(v.uses):]
	}
	for _, o := range done.operations {
		for _, k := range o.gives {
			done.gains = append(done.gains, added(k, nominal(k).limit(v.proved))...)
		}
	}
	e.gained(done, at.cost.plus(aRun), done.gains)
}

// outcomes returns the states in which a run can be after it left a node by an outcome with an effect;
// none if the attacker cannot cause the outcome.
func (e *exploration) outcomes(n *vertex, effect engine.Effect, v visit) []visit {
	possible := e.caused(n, effect, v)
	if effect.Optional {
		possible = append(possible, v)
	}
	return possible
}

// caused returns the states after an outcome that has its effect.
func (e *exploration) caused(n *vertex, effect engine.Effect, v visit) []visit {
	if !e.serves(effect.Mail) {
		return nil
	}
	v.change(effect.User)
	if effect.Guarded && !e.mayChange(&v) {
		return nil
	}
	for _, k := range effect.Given {
		if v.isVictim() && !e.require(&v, k) {
			return nil
		}
	}
	if effect.Adds != "" {
		e.add(&v, n, effect.Adds)
	}
	switch {
	case effect.Proves != "":
		return e.authenticate(v, effect.Proves)
	case effect.Resumes != "":
		return e.resume(v, proofOf(effect.Resumes))
	}
	return []visit{v}
}

// serves reports whether the server has the mail server that an outcome needs, or none.
func (e *exploration) serves(need engine.MailNeed) bool {
	return need == engine.AnyMail || (need == engine.NeedsNoMail) == e.noMail
}

// change changes the user of the run.
func (v *visit) change(how engine.UserChange) {
	switch how {
	case engine.FindsUser:
		v.subject, v.proved = named, proof{}
	case engine.LosesUser:
		v.subject, v.proved = nobody, proof{}
	case engine.CreatesUser:
		v.subject, v.proved = ownAccount, proof{}
	case engine.NamesUser:
		if v.subject == nobody || v.subject == ownAccount {
			v.subject = named
		}
	case engine.NamesMissingUser:
		if v.subject == nobody {
			v.subject = named
		}
	}
}

// add adds a credential to the account: that of each provider of the flow if it is an identity.
func (e *exploration) add(v *visit, n *vertex, k kind) {
	if k != engine.IdentityAt("") {
		e.gain(v, n, k)
		return
	}
	for _, identity := range e.providers {
		e.gain(v, n, identity)
	}
}

// mayChange reports whether the run may change the account: a user with a second factor must have used
// one.
func (e *exploration) mayChange(v *visit) bool {
	return v.subject != authenticated || v.proved.holds || e.require(v, noApp) && e.require(v, noCodes)
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
	for _, h := range e.held[k] {
		w := v
		if w.subject != authenticated {
			w.subject, w.proved = authenticated, proof{}
		}
		w.proved = w.proved.join(h.worth)
		if h.worth == nominal(k) || w.proved.satisfies(e.guarantee) {
			w.use(h)
			list = append(list, w)
		}
	}
	return list
}

// use notes that an item is used. What the run has used or gained before costs nothing more.
func (v *visit) use(h *holding) {
	for at := v; at != nil; at = at.parent {
		if slices.Contains(at.uses, h) || slices.ContainsFunc(at.gains, h.covers) {
			return
		}
	}
	v.uses = append(slices.Clip(v.uses), h)
	v.cost = v.cost.plus(h.cost)
}

// require uses a condition of the victim's account; false if it does not hold.
func (e *exploration) require(v *visit, k kind) bool {
	list := e.held[k]
	if len(list) == 0 {
		return false
	}
	v.use(list[0])
	return true
}

// resume uses each session that satisfies the class.
func (e *exploration) resume(v visit, class proof) (list []visit) {
	for _, h := range e.held[aSession] {
		if !h.worth.covers(class) {
			continue
		}
		w := v
		w.subject, w.proved = authenticated, h.worth
		if v.subject == authenticated {
			w.proved = h.worth.join(v.proved)
		}
		w.use(h)
		list = append(list, w)
	}
	return list
}

// gain adds a credential to the account of the run's user. On the victim's account it is worth
// no more than the run has proved. A waiver lifts that limit: of the rule takeover for a user who
// was only named, and of RuleChain for others.
func (e *exploration) gain(v *visit, n *vertex, k kind) {
	worth := nominal(k)
	switch {
	case v.subject == nobody, v.subject == ownAccount, n.waived && e.strict:
		return
	case v.subject == authenticated && !n.waived:
		worth = worth.limit(v.proved)
	}
	v.gains = append(slices.Clip(v.gains), added(k, worth)...)
}

// visits is a heap of visits, the cheapest first.
type visits []*visit

func (q visits) Len() int           { return len(q) }
func (q visits) Less(i, j int) bool { return q[i].cost < q[j].cost }
func (q visits) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *visits) Push(v any)        { *q = append(*q, v.(*visit)) }
func (q *visits) Pop() any {
	last := len(*q) - 1
	v := (*q)[last]
	*q = (*q)[:last]
	return v
}
