package engine

import "slices"

// longestPaths finds the paths with the greatest weight in a graph, depth first.
type longestPaths struct {
	next    func(i int) []int
	weight  func(i int) int
	onCycle func(cycle []int) // called once for each; nil: cycles are ignored

	total map[int]int // the weight of the longest path by its start
	then  map[int]int // the next node on it
	path  []int
}

// from returns the weight of the longest path from node i, including i.
func (p *longestPaths) from(i int) int {
	const open = -1 // on the current path
	if p.total == nil {
		p.total, p.then = map[int]int{}, map[int]int{}
	}
	switch total, seen := p.total[i]; {
	case seen && total != open:
		return total
	case seen:
		if p.onCycle != nil {
			p.onCycle(p.path[slices.Index(p.path, i):])
		}
		return 0
	}
	p.total[i] = open
	p.path = append(p.path, i)
	longest := 0
	for _, to := range p.next(i) {
		if total := p.from(to); total > longest {
			longest, p.then[i] = total, to
		}
	}
	p.path = p.path[:len(p.path)-1]
	p.total[i] = longest + p.weight(i)
	return p.total[i]
}

// weighted returns the nodes with a weight on the longest path from node i.
func (p *longestPaths) weighted(i int) (nodes []int) {
	for {
		if p.weight(i) > 0 {
			nodes = append(nodes, i)
		}
		to, more := p.then[i]
		if !more {
			return nodes
		}
		i = to
	}
}
