package engine

import (
	"fmt"
	"slices"
)

// The state graph
//
// The analysis in prove.go joins all paths to a node into one set. That is fast and proves most
// flows, but it cannot show a path, and if a node needs one of several facts it may miss that
// every path establishes one or the other. A need that is not certain is therefore checked
// again, exactly, by a breadth-first search through the states (node, facts) that some path
// reaches. The first state of a node without the needed fact is the end of a shortest path that
// breaks the rule. If there is no such state, there is no such path.
//
// Only facts that affect the question are distinguished, so each node has few states, not one
// per path.

// maxStates limits the states of all searches of one Compile. Real flows stay far below. A
// hostile flow is rejected without the exact answer.
const maxStates = 300_000

// maxBits limits the facts that a search distinguishes. Further claims count as missing, which
// errs towards rejection: see claimWithdrawn.
const maxBits = 64

// stateGraph is the result of a search.
type stateGraph struct {
	graph  *Graph
	read   outcomeReading
	bits   map[Fact]uint64
	edges  [][]transfer // of each node, in the order of its edges
	states []searchState
	at     [][]int32 // the states of each node, nearest first
	whole  bool      // the search is complete

	// repair, if not nil, returns the facts with which a run continues after a move, or after the
	// arrival at a node (edge -1).
	repair func(m move, held uint64) uint64
}

// searchState is a node with the facts of some path to it, and the state and edge that lead
// there (-1: the entry).
type searchState struct {
	node         int32
	parent, edge int32
	held         uint64
}

// transfer is Facts.after for the facts of a state graph.
type transfer struct {
	target       int
	clears, sets uint64
	given        []givenBits
	user, own    uint64 // the bits of the facts that disappear with an identified user, and of Own
	claims       uint64 // the bits of all claims
	withdrawn    uint64 // the bits of the claims that the outcome withdraws
	withdraws    bool   // it withdraws an input
}

type givenBits struct{ fact, sets uint64 }

func (t *transfer) after(s uint64) uint64 {
	next := s &^ t.clears
	if t.withdraws && s&t.own == 0 && s&t.claims&^t.withdrawn == 0 {
		next &^= t.user
	}
	before := next
	for _, g := range t.given {
		if before&g.fact != 0 {
			next |= g.sets
		}
	}
	return next | t.sets
}

// stateGraphOf searches the graph with the facts that affect the given ones. Results are cached
// by set of facts; nil means that the search is too expensive.
func (c *compiler) stateGraphOf(asked []Fact) *stateGraph {
	return c.stateGraphBy("", c.outcome, asked)
}

// stateGraphBy is stateGraphOf for a named reading of the graph.
func (c *compiler) stateGraphBy(name string, read outcomeReading, asked []Fact) *stateGraph {
	facts := c.relevantFacts(asked)
	key := name + fmt.Sprint(facts)
	if p, done := c.stateGraphs[key]; done {
		return p
	}
	p := c.newStateGraph(read, facts)
	p.walk(p.mask(Required(c.flow)), maxStates-c.visited)
	c.visited += len(p.states)
	if !p.whole {
		p = nil
	}
	if c.stateGraphs == nil {
		c.stateGraphs = map[string]*stateGraph{}
	}
	c.stateGraphs[key] = p
	return p
}

// newStateGraph returns a state graph that distinguishes the facts, before the search.
func (c *compiler) newStateGraph(read outcomeReading, facts []Fact) *stateGraph {
	p := &stateGraph{graph: c.graph, read: read, bits: map[Fact]uint64{}, at: make([][]int32, len(c.graph.nodes))}
	for i, f := range facts[:min(len(facts), maxBits)] {
		p.bits[f] = 1 << i
	}
	p.compile()
	return p
}

// relevantFacts returns the facts that the given ones depend on, claims last.
func (c *compiler) relevantFacts(asked []Fact) []Fact {
	claimed, givenFor := c.readOutcomes()
	bears := NewFacts()
	todo := slices.Clone(asked)
	for len(todo) > 0 {
		f := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if bears.contains(f) {
			continue
		}
		bears = bears.Union(Facts{f})
		if f.aboutIdentified() {
			todo = append(append(todo, Own), claimed...)
		}
		todo = append(todo, givenFor[f]...)
	}
	rank := func(f Fact) int {
		if claimSort.includes(f) {
			return 1
		}
		return 0
	}
	return slices.SortedStableFunc(slices.Values(bears), func(f, g Fact) int { return rank(f) - rank(g) })
}

// readOutcomes returns every claim that an outcome of the graph may establish and, for each
// fact, the facts given which an outcome establishes it.
func (c *compiler) readOutcomes() (claimed []Fact, givenFor map[Fact][]Fact) {
	if c.givenFor != nil {
		return c.claimed, c.givenFor
	}
	c.givenFor = map[Fact][]Fact{}
	claims := NewFacts()
	for i := range c.graph.nodes {
		for _, e := range c.graph.nodes[i].edges {
			claims = claims.Union(NewFacts(e.Establishes...).without(func(f Fact) bool { return !claimSort.includes(f) }))
			for given, facts := range e.EstablishesGiven {
				for _, f := range NewFacts(facts...) {
					if !slices.Contains(c.givenFor[f], given) {
						c.givenFor[f] = append(c.givenFor[f], given)
					}
				}
			}
		}
	}
	c.claimed = claims
	return c.claimed, c.givenFor
}

// compile computes the transfer of every edge.
func (p *stateGraph) compile() {
	p.edges = make([][]transfer, len(p.graph.nodes))
	every := transfer{user: p.bitsOf(p.factsWhere(Fact.aboutIdentified)), own: p.bits[Own], claims: p.bitsOf(p.factsWhere(claimSort.includes))}
	for i := range p.graph.nodes {
		n := &p.graph.nodes[i]
		if n.kind == nil {
			continue // see certainFacts: it may establish everything
		}
		p.edges[i] = make([]transfer, len(n.edges))
		for j, e := range n.edges {
			o := p.read(i, j)
			if n.exec == nil {
				o.Establishes = append(slices.Clone(o.Establishes), p.factsWhere(Fact.collected)...)
			}
			p.edges[i][j] = p.transfer(o, every)
			p.edges[i][j].target = e.target
		}
	}
}

// transfer computes Facts.after of an outcome, with the bits of every outcome in t.
func (p *stateGraph) transfer(o Outcome, t transfer) transfer {
	t.sets, t.clears, t.withdraws = p.mask(o.Establishes), p.mask(o.Forgets), len(o.Withdraws) > 0 && !o.NewSubject
	for _, input := range o.Withdraws {
		t.withdrawn |= p.bits[ClaimFact(input)]
		t.clears |= p.bits[InputFact(input)] | p.bits[ClaimFact(input)]
	}
	if o.NewSubject {
		t.clears |= p.mask(p.factsWhere(Fact.aboutSubject))
	}
	for fact, facts := range o.EstablishesGiven {
		if g := (givenBits{p.bits[fact], p.mask(facts)}); g.fact != 0 && g.sets != 0 {
			t.given = append(t.given, g)
		}
	}
	return t
}

// factsWhere returns the distinguished facts that satisfy a condition.
func (p *stateGraph) factsWhere(sort func(Fact) bool) []Fact {
	var list []Fact
	for f := range p.bits {
		if sort(f) {
			list = append(list, f)
		}
	}
	return list
}

// mask returns the bits of the facts and of the facts they imply.
func (p *stateGraph) mask(facts []Fact) uint64 {
	var m uint64
	for _, f := range NewFacts(facts...) {
		m |= p.bits[f]
	}
	return m
}

func (p *stateGraph) bitsOf(facts []Fact) (m uint64) {
	for _, f := range facts {
		m |= p.bits[f]
	}
	return m
}

// walk visits every state that some path reaches from the entry with the given facts, nearest
// first, up to the limit.
func (p *stateGraph) walk(held uint64, limit int) {
	type place struct {
		node int32
		held uint64
	}
	repair := p.repair
	if repair == nil {
		repair = func(_ move, held uint64) uint64 { return held }
	}
	held = repair(move{0, -1}, held)
	seen := map[place]bool{{held: held}: true}
	p.states = append(p.states, searchState{parent: -1, edge: -1, held: held})
	p.at[0] = append(p.at[0], 0)
	for i := 0; i < len(p.states); i++ {
		if len(p.states) > limit {
			return
		}
		s := p.states[i]
		for j := range p.edges[s.node] {
			t := &p.edges[s.node][j]
			to := place{int32(t.target), 0}
			if t.target < 0 {
				continue
			}
			if to.held = repair(move{t.target, -1}, t.after(s.held)); seen[to] {
				continue
			}
			seen[to] = true
			p.at[to.node] = append(p.at[to.node], int32(len(p.states)))
			p.states = append(p.states, searchState{to.node, int32(i), int32(j), to.held})
		}
	}
	p.whole = true
}

// move is a step of a path: a node and the index of the edge that the path takes.
type move struct{ node, edge int }

// pathWithout returns a shortest path that arrives at node i, or leaves it by the edge if that
// is not -1, with none of the facts and with all of the others. If there is no such path, ok is
// false.
func (p *stateGraph) pathWithout(i, edge int, facts []Fact, with ...Fact) (path []move, ok bool) {
	lacking, holding := p.bitsOf(facts), p.bitsOf(with)
	for _, at := range p.at[i] {
		held := p.states[at].held
		if edge >= 0 {
			held = p.edges[i][edge].after(held)
		}
		if held&lacking == 0 && held&holding == holding {
			return append(p.path(at), move{i, edge}), true
		}
	}
	return nil, false
}

// path returns the moves from the entry to a state.
func (p *stateGraph) path(at int32) []move {
	var path []move
	for s := p.states[at]; s.parent >= 0; s = p.states[s.parent] {
		path = append(path, move{int(p.states[s.parent].node), int(s.edge)})
	}
	slices.Reverse(path)
	return path
}
