package chains

import "slices"

// cost orders ways to get something: first by runs, then by conditions, then by moves. It adds up
// what each item costs, so that an item that is used twice counts twice.
type cost int64

const (
	aMove      cost = 1
	aCondition cost = 1 << 20
	aRun       cost = 1 << 40
	mostCost   cost = 1 << 61
)

func (c cost) plus(d cost) cost { return min(c+d, mostCost) }

// holding is an item that the attacker has, and the cheapest known run that gives it; nil for what
// the attacker has from the beginning.
type holding struct {
	item
	cost cost
	from *run
}

// covers reports whether an item can be used in place of the holding.
func (h *holding) covers(i item) bool { return i.kind == h.kind && i.worth.covers(h.worth) }

// run is a run with a result, or an operation of the API.
type run struct {
	start       *start
	application *Application // nil for the first that starts the flow
	end         *visit       // nil for an operation without a run
	edge        int          // the last one, from the node of end; -1 if the run completes there
	operations  []operation  // with the token, or without a run
	uses        []*holding   // besides those of the visits
	gains       []item       // at the end
	token       proof        // zero if the run does not complete
}

// start is a flow with the applications that start it.
type start struct {
	*program
	applications []*Application
	account      *Application // the first whose tokens may change accounts; nil for none
	seen         int          // the changes of its kinds when it was explored; -1 before
	tokens       results
}

// result is what a run gives, tokens or a credential.
type result struct {
	worth proof
	cost  cost
	run   *run
}

// results are results such that none is worth more than another and costs less.
type results []*result

func (list *results) add(r *result) {
	if !slices.ContainsFunc(*list, func(s *result) bool { return s.cost <= r.cost && s.worth.covers(r.worth) }) {
		*list = append(slices.DeleteFunc(*list, func(s *result) bool { return r.cost <= s.cost && r.worth.covers(s.worth) }), r)
	}
}

// search finds everything that one attacker can get from one account. What is held only grows, so
// the search ends when no flow gives anything new. Its work is bounded by the number of flows, their
// nodes, the kinds of items and the proofs that there are.
type search struct {
	budget  *budget
	strict  bool // nothing that is waived is possible
	noMail  bool
	tokens  []operation // what a token can do with the account of its user
	starts  []*start
	held    map[kind][]*holding
	changes map[kind]int
	gains   map[kind]*results // the credentials that runs give
}

// search runs a search for an attacker who has the items.
func (a *analysis) search(has []kind) (*search, error) {
	s := &search{budget: a.budget, strict: a.strict, noMail: a.system.NoMail, tokens: a.tokens, held: map[kind][]*holding{}, changes: map[kind]int{}, gains: map[kind]*results{}}
	for _, k := range has {
		h := &holding{item: item{kind: k}}
		if k.IsCondition() {
			h.cost = aCondition
		} else if k != manager {
			h.worth = nominal(k)
		}
		s.held[k] = []*holding{h}
	}
	for _, at := range a.starts {
		s.starts = append(s.starts, &start{program: at.program, applications: at.applications, account: at.account, seen: -1})
	}
	s.operate(a.system)
	return s, s.close()
}

// operate adds what clients can do without a flow.
func (s *search) operate(system *System) {
	if len(s.held[manager]) == 0 {
		return
	}
	for i := range system.Applications {
		app := &system.Applications[i]
		if app.ManagesUsers {
			s.operateBy(app, userManager)
		}
		if app.Unlimited {
			s.operateBy(app, unlimitedClient)
		}
	}
}

func (s *search) operateBy(app *Application, by actor) {
	for _, o := range by.operations() {
		r := &run{application: app, edge: -1, operations: []operation{o}, uses: s.held[manager]}
		for _, k := range o.gives {
			r.gains = append(r.gains, added(k, nominal(k))...)
		}
		s.gained(r, aRun, r.gains)
	}
}

// close explores flows until nothing is new.
func (s *search) close() error {
	for again := true; again; {
		again = false
		for _, at := range s.starts {
			now := s.count(at.kinds)
			if now == at.seen {
				continue
			}
			at.seen, again = now, true
			if err := s.explore(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// count returns a number that grows with each change of what is held of the kinds.
func (s *search) count(kinds []kind) (n int) {
	for _, k := range kinds {
		n += s.changes[k]
	}
	return n
}

// gained notes what a run gives.
func (s *search) gained(r *run, c cost, items []item) {
	for _, it := range items {
		if isCredential(it.kind) {
			if s.gains[it.kind] == nil {
				s.gains[it.kind] = new(results)
			}
			s.gains[it.kind].add(&result{it.worth, c, r})
		}
		s.hold(&holding{it, c, r})
	}
}

// hold keeps an item, unless another one is worth as much for as few runs and conditions.
func (s *search) hold(h *holding) {
	better := func(g, h *holding) bool { return g.cost/aCondition <= h.cost/aCondition && g.worth.covers(h.worth) }
	list := s.held[h.kind]
	if slices.ContainsFunc(list, func(g *holding) bool { return better(g, h) }) {
		return
	}
	s.held[h.kind] = append(slices.DeleteFunc(slices.Clone(list), func(g *holding) bool { return better(h, g) }), h)
	s.changes[h.kind]++
}

// cheapest returns the cheapest result that is worth at least as much as wanted, nil if there is none.
func (list results) cheapest(wanted proof) (best *result) {
	for _, r := range list {
		if r.worth.satisfies(wanted) && (best == nil || r.cost < best.cost) {
			best = r
		}
	}
	return best
}
