package engine

import "slices"

// longestPaths finds the paths with the greatest weight in a graph, depth first.
type longestPaths struct {
	next    func(i int) []int
	weight  func(i int) int
	onCycle func(cycle []int) // called once for each; nil: cycles are ignored

	state []pathState // by start
	path  []int       // the current one
}

// pathState describes the longest path from a node, as far as it is known.
type pathState struct {
	seen, open bool // open: on the current path
	total      int  // its weight
	then       int  // the next node on it, if its rest has a weight
}

// newLongestPaths returns a search over n nodes.
func newLongestPaths(n int, next func(i int) []int, weight func(i int) int) *longestPaths {
	return &longestPaths{next: next, weight: weight, state: make([]pathState, n)}
}

// from returns the weight of the longest path from node i, including i.
func (p *longestPaths) from(i int) int {
	at := &p.state[i]
	if at.open && p.onCycle != nil {
		p.onCycle(p.path[slices.Index(p.path, i):])
	}
	if at.seen {
		return at.total
	}
	at.seen, at.open = true, true
	p.path = append(p.path, i)
	longest := 0
	for _, to := range p.next(i) {
		if total := p.from(to); total > longest {
			longest, at.then = total, to
		}
	}
	p.path = p.path[:len(p.path)-1]
	at.total, at.open = longest+p.weight(i), false
	return at.total
}

// weighted returns the nodes with a weight on the longest path from node i.
func (p *longestPaths) weighted(i int) (nodes []int) {
	for rest := p.from(i); rest > 0; i = p.state[i].then {
		if w := p.weight(i); w > 0 {
			nodes = append(nodes, i)
			rest -= w
		}
	}
	return nodes
}
