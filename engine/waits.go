package engine

import "strings"

// Waiting for other services
//
// An executor may call another service while a step is decided. The user waits for it, and the
// server aborts a request after a minute. A step may therefore wait only a few times, on every
// path.
//
// A step starts at the entry or with the answer to a question, and ends at the next question or
// at an end. A start may contain the answer to the first question and so be two steps in one. If
// the node that asks has itself waited for a service, the client cannot know the answer yet,
// because it depends on that service.

// maxWaits limits how often a step may wait for another service.
const maxWaits = 3

// SlowNode is an Executor that may wait for another service whenever it is executed: for at most
// 15 seconds. A missing reply is not an error of the step.
type SlowNode interface {
	Waits() bool
}

// waits reports whether node i waits for another service.
func (c *compiler) waits(i int) bool {
	w, ok := c.graph.nodes[i].exec.(SlowNode)
	return ok && w.Waits()
}

// checkWaits reports the first step that waits too often.
func (c *compiler) checkWaits() {
	w := waitSearch{c: c}
	for layer := range w.seen {
		w.seen[layer], w.longest[layer] = make([]bool, len(c.graph.nodes)), make([]*waitPath, len(c.graph.nodes))
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
	c.report(RuleCycle, last, "use", "a step may wait for other services %d times without a question to the client (%s); the limit is %d: "+
		"combine requests, or add a prompt in between", len(ids), strings.Join(ids, " → "), maxWaits)
	return true
}

// waitPath lists the nodes that wait, in the order of a step; nil for none.
type waitPath struct {
	node, length int
	rest         *waitPath
}

// Whether a step may still pass a question.
const (
	starting = iota
	continuing
)

// waitSearch finds the longest path from every node, depth first.
type waitSearch struct {
	c       *compiler
	seen    [2][]bool // by starting or continuing; a cycle has a finding of its own
	longest [2][]*waitPath
}

// longestOnArrival returns the longest path of a step that arrives at node i.
func (w *waitSearch) longestOnArrival(i, layer int) *waitPath {
	if w.seen[layer][i] {
		return w.longest[layer][i]
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
		longest = w.longestFromNext(i, continuing)
	}
	w.longest[layer][i] = w.prepend(i, longest)
	return w.longest[layer][i]
}

// longestAfterAnswer returns the longest path of a step that starts with an answer to node i.
func (w *waitSearch) longestAfterAnswer(i int) *waitPath {
	return w.prepend(i, w.longestFromNext(i, continuing))
}

// longestFromNext returns the longest path from the targets of node i. A node that leads to
// itself already has the reply of its service.
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

// prepend adds node i to the front of a path if it waits.
func (w *waitSearch) prepend(i int, rest *waitPath) *waitPath {
	switch {
	case !w.c.waits(i):
		return rest
	case rest == nil:
		return &waitPath{i, 1, nil}
	}
	return &waitPath{i, rest.length + 1, rest}
}
