package engine

import (
	"slices"
	"strings"
)

// maxMoves limits the nodes that one step may visit. Compile rejects graphs with a longer path
// that asks nothing. The limit stops an executor that takes its own unwired outcome again and
// again.
const maxMoves = 100

// maxUnattendedNodes limits the nodes in a row that may ask nothing: a step also visits the node
// that was answered and the next node that asks.
const maxUnattendedNodes = maxMoves - 2

// checkCycles reports cycles of nodes that do not ask the client: a run in such a cycle would
// never return. The remaining graph of nodes that do not ask has no cycles, so its longest path is
// known. That path must not exceed the limit of moves per step.
func (c *compiler) checkCycles() {
	asks := func(i int) bool { kind := c.graph.nodes[i].kind; return kind == nil || kind.Asks }
	paths := newLongestPaths(len(c.graph.nodes),
		func(i int) []int { return slices.DeleteFunc(c.graph.nodes[i].targets(), asks) },
		func(int) int { return 1 })
	paths.onCycle = c.reportCycle
	for i := range c.graph.nodes {
		if !asks(i) && paths.from(i) > maxUnattendedNodes {
			c.report(RuleCycle, i, "next", "a run may pass %d nodes from here without a question to the client; the limit is %d: add a prompt in between, or use fewer decisions", paths.from(i), maxUnattendedNodes)
			return
		}
	}
}

func (c *compiler) reportCycle(circle []int) {
	ids := make([]string, 0, len(circle)+1)
	for _, i := range append(slices.Clone(circle), circle[0]) {
		ids = append(ids, c.graph.nodes[i].id)
	}
	c.report(RuleCycle, circle[0], "next", "the cycle %s contains no question to the client, so a run would never leave it; lead one of its outcomes to a node that asks, such as a prompt", strings.Join(ids, " → "))
}

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

// The layers of a step: at its start, when it may still pass a question; after the answer to a
// question; and later.
const (
	starting = iota
	answered
	continuing
)

// checkWaits reports the first step that waits too often.
func (c *compiler) checkWaits() {
	n := len(c.graph.nodes)
	paths := newLongestPaths(3*n, func(s int) []int { return c.nextInStep(s%n, s/n) }, func(s int) int {
		if c.waits(s % n) {
			return 1
		}
		return 0
	})
	starts := []int{starting * n}
	for i, node := range c.graph.nodes {
		if node.exec != nil && node.kind.Asks {
			starts = append(starts, answered*n+i)
		}
	}
	for _, start := range starts {
		if paths.from(start) > maxWaits {
			c.reportWaits(paths.weighted(start), n)
			return
		}
	}
}

// nextInStep returns where a step may continue after node i of a layer, as nodes in their layers.
// A node that leads to itself already has the reply of its service.
func (c *compiler) nextInStep(i, layer int) (list []int) {
	n := &c.graph.nodes[i]
	switch {
	case n.exec == nil:
		return nil
	case layer == answered:
		layer = continuing
	case n.kind.Asks && (layer == continuing || c.waits(i)):
		return nil
	case n.kind.Asks:
		layer = continuing
	}
	for _, to := range n.targets() {
		if to != i {
			list = append(list, layer*len(c.graph.nodes)+to)
		}
	}
	return list
}

func (c *compiler) reportWaits(path []int, n int) {
	var ids []string
	for _, s := range path {
		ids = append(ids, c.graph.nodes[s%n].id)
	}
	c.report(RuleCycle, path[len(path)-1]%n, "use", "a step may wait for other services %d times without a question to the client (%s); the limit is %d: "+
		"combine requests, or add a prompt in between", len(ids), strings.Join(ids, " → "), maxWaits)
}
