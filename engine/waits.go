package engine

import "strings"

// Waiting for others
//
// An executor may ask another service something while the step is decided. The person
// waits meanwhile, and the server breaks off a request that takes a minute. So a step
// waits few times, whichever way it goes.
//
// A step begins at the entry, or with the answer to a question, and ends at the next
// question or at an end. A start may bring the answer to the first question, and be
// two steps in one. Where the node that asks has itself waited for another, the client
// cannot know the answer yet: that is what it is sent there for.

// maxWaits is how often a step may wait for another service.
const maxWaits = 3

// SlowNode is an Executor that may wait for another service whenever it is executed:
// for 15 seconds at most, and a failure to answer is no error of the step.
type SlowNode interface {
	Waits() bool
}

// waits reports whether node i waits for another service.
func (c *compiler) waits(i int) bool {
	w, ok := c.graph.nodes[i].exec.(SlowNode)
	return ok && w.Waits()
}

// checkWaits finds steps that wait too often. Telling of one way is enough to mend.
func (c *compiler) checkWaits() {
	w := waitSearch{c: c}
	for layer := range w.seen {
		w.seen[layer], w.ways[layer] = make([]bool, len(c.graph.nodes)), make([]*waitPath, len(c.graph.nodes))
	}
	if c.reportWaits(w.longestOnArrival(0, starting)) {
		return
	}
	for i, n := range c.graph.nodes {
		if n.exec != nil && n.kind.Asks && c.reportWaits(w.longestAfterAnswer(i)) {
			return
		}
	}
}

func (c *compiler) reportWaits(longest *waitPath) bool {
	if longest == nil || longest.length <= maxWaits {
		return false
	}
	var ids []string
	var last int
	for ; longest != nil; longest = longest.rest {
		last = longest.node
		ids = append(ids, c.graph.nodes[last].id)
	}
	c.report(RuleCycle, last, "use", "without asking the client anything, a step may wait for other services %d times (%s); at most %d are allowed: "+
		"ask for more with one request, or put a prompt between", len(ids), strings.Join(ids, " → "), maxWaits)
	return true
}

// waitPath is the nodes that wait, in the order in which a step comes to them; nil for none.
type waitPath struct {
	node, length int
	rest         *waitPath
}

// Whether a step may still pass a question on its way.
const (
	starting = iota
	statusUnderWay
)

// waitSearch finds the longest ways from every node, depth first.
type waitSearch struct {
	c    *compiler
	seen [2][]bool // by starting or underWay; a circle has its own finding
	ways [2][]*waitPath
}

// longestOnArrival returns the longest way of a step that comes to node i.
func (w *waitSearch) longestOnArrival(i, layer int) *waitPath {
	if w.seen[layer][i] {
		return w.ways[layer][i]
	}
	w.seen[layer][i] = true
	n := w.c.graph.nodes[i]
	var longest *waitPath
	switch {
	case n.exec == nil:
		return nil
	case !n.kind.Asks:
		longest = w.longestFromNext(i, layer)
	case layer == starting && !w.c.waits(i):
		longest = w.longestFromNext(i, statusUnderWay)
	}
	w.ways[layer][i] = w.prepend(i, longest)
	return w.ways[layer][i]
}

// longestAfterAnswer returns the longest way of a step that begins with an answer to node i.
func (w *waitSearch) longestAfterAnswer(i int) *waitPath {
	return w.prepend(i, w.longestFromNext(i, statusUnderWay))
}

// longestFromNext returns the longest way from where node i leads to. If it leads to itself it
// has said already what the other service said.
func (w *waitSearch) longestFromNext(i, layer int) *waitPath {
	var longest *waitPath
	for _, e := range w.c.graph.nodes[i].edges {
		if e.target < 0 || e.target == i {
			continue
		}
		if other := w.longestOnArrival(e.target, layer); other != nil && (longest == nil || other.length > longest.length) {
			longest = other
		}
	}
	return longest
}

// prepend puts node i before a way, if it waits.
func (w *waitSearch) prepend(i int, rest *waitPath) *waitPath {
	switch {
	case !w.c.waits(i):
		return rest
	case rest == nil:
		return &waitPath{i, 1, nil}
	}
	return &waitPath{i, rest.length + 1, rest}
}
