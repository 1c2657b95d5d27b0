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

// Waiter is an Executor that may wait for another service whenever it is executed:
// for 15 seconds at most, and a failure to answer is no error of the step.
type Waiter interface {
	Waits() bool
}

// waits reports whether node i waits for another service.
func (c *compiler) waits(i int) bool {
	w, ok := c.graph.nodes[i].exec.(Waiter)
	return ok && w.Waits()
}

// checkWaits finds steps that wait too often. Telling of one way is enough to mend.
func (c *compiler) checkWaits() {
	w := waitWalk{c: c}
	for layer := range w.seen {
		w.seen[layer], w.ways[layer] = make([]bool, len(c.graph.nodes)), make([]*way, len(c.graph.nodes))
	}
	if c.reportWaits(w.arrive(0, starting)) {
		return
	}
	for i, n := range c.graph.nodes {
		if n.exec != nil && n.kind.Asks && c.reportWaits(w.answered(i)) {
			return
		}
	}
}

func (c *compiler) reportWaits(longest *way) bool {
	if longest == nil || longest.length <= maxWaits {
		return false
	}
	var ids []string
	var last int
	for ; longest != nil; longest = longest.rest {
		last = longest.node
		ids = append(ids, c.graph.nodes[last].id)
	}
	c.report(RuleCircle, last, "use", "without asking the client anything, a step may wait for other services %d times (%s); at most %d are allowed: "+
		"ask for more with one request, or put a prompt between", len(ids), strings.Join(ids, " → "), maxWaits)
	return true
}

// way is the nodes that wait, in the order in which a step comes to them; nil for none.
type way struct {
	node, length int
	rest         *way
}

// Whether a step may still pass a question on its way.
const (
	starting = iota
	underWay
)

// waitWalk finds the longest ways from every node, depth first.
type waitWalk struct {
	c    *compiler
	seen [2][]bool // by starting or underWay; a circle has its own finding
	ways [2][]*way
}

// arrive returns the longest way of a step that comes to node i.
func (w *waitWalk) arrive(i, layer int) *way {
	if w.seen[layer][i] {
		return w.ways[layer][i]
	}
	w.seen[layer][i] = true
	n := w.c.graph.nodes[i]
	var longest *way
	switch {
	case n.exec == nil:
		return nil
	case !n.kind.Asks:
		longest = w.onward(i, layer)
	case layer == starting && !w.c.waits(i):
		longest = w.onward(i, underWay)
	}
	w.ways[layer][i] = w.plus(i, longest)
	return w.ways[layer][i]
}

// answered returns the longest way of a step that begins with an answer to node i.
func (w *waitWalk) answered(i int) *way { return w.plus(i, w.onward(i, underWay)) }

// onward returns the longest way from where node i leads to. If it leads to itself it
// has said already what the other service said.
func (w *waitWalk) onward(i, layer int) *way {
	var longest *way
	for _, e := range w.c.graph.nodes[i].edges {
		if e.target < 0 || e.target == i {
			continue
		}
		if other := w.arrive(e.target, layer); other != nil && (longest == nil || other.length > longest.length) {
			longest = other
		}
	}
	return longest
}

// plus puts node i before a way, if it waits.
func (w *waitWalk) plus(i int, rest *way) *way {
	switch {
	case !w.c.waits(i):
		return rest
	case rest == nil:
		return &way{i, 1, nil}
	}
	return &way{i, rest.length + 1, rest}
}
