package flowtest

import (
	"slices"
	"strings"
)

// Coverage counts which outcomes of a flow the scenarios reached.
type Coverage struct {
	File   string         `json:"file"` // path of the flow, relative to that of the scenario file
	Handle string         `json:"handle"`
	Nodes  []NodeCoverage `json:"nodes"` // in the order of the flow
}

// NodeCoverage counts which outcomes of a node the scenarios reached.
type NodeCoverage struct {
	ID       string            `json:"id"`
	Kind     string            `json:"kind"`
	Outcomes []OutcomeCoverage `json:"outcomes"`
}

// OutcomeCoverage counts the scenarios that left a node by an outcome. The outcome is ""
// for a node that ends the run.
type OutcomeCoverage struct {
	Outcome   string `json:"outcome"`
	Scenarios int    `json:"scenarios"`
}

// Exit is a node that a run left, and the outcome: "" for a node that ends the run.
type Exit struct {
	Node    string `json:"node"`
	Outcome string `json:"outcome"`
}

// covered adds up the coverage of the environments.
func covered(f *File, worlds []*environment) Coverage {
	graph := worlds[0].graph
	c := Coverage{File: f.FlowPath(), Handle: graph.Flow().Handle}
	for _, n := range graph.Nodes() {
		node := NodeCoverage{ID: n.ID, Kind: n.Kind}
		outcomes := []string{""}
		if len(n.Edges) > 0 {
			outcomes = nil
		}
		for _, e := range n.Edges {
			outcomes = append(outcomes, e.Outcome)
		}
		for _, outcome := range outcomes {
			o := OutcomeCoverage{Outcome: outcome}
			for _, w := range worlds {
				o.Scenarios += w.reached[Exit{n.ID, outcome}]
			}
			node.Outcomes = append(node.Outcomes, o)
		}
		c.Nodes = append(c.Nodes, node)
	}
	return c
}

// Reached reports whether a scenario left the node by the outcome.
func (c *Coverage) Reached(node, outcome string) bool {
	return slices.ContainsFunc(c.Nodes, func(n NodeCoverage) bool {
		return n.ID == node && slices.ContainsFunc(n.Outcomes, func(o OutcomeCoverage) bool {
			return o.Outcome == outcome && o.Scenarios > 0
		})
	})
}

// Count returns the numbers of reached and of all outcomes.
func (c *Coverage) Count() (reached, all int) {
	for _, n := range c.Nodes {
		all += len(n.Outcomes)
	}
	return all - len(c.Missed()), all
}

// Missed lists the outcomes that no scenario reached, as "node outcome" or, for a node
// that ends the run, "node".
func (c *Coverage) Missed() []string {
	return namesOf(c.MissedExits(), func(at Exit) string { return strings.TrimSuffix(at.Node+" "+at.Outcome, " ") })
}

// MissedExits lists the outcomes that no scenario reached.
func (c *Coverage) MissedExits() (list []Exit) {
	for _, n := range c.Nodes {
		for _, o := range n.Outcomes {
			if o.Scenarios == 0 {
				list = append(list, Exit{n.ID, o.Outcome})
			}
		}
	}
	return list
}

// Add adds the coverage of other scenarios of the same flow.
func (c *Coverage) Add(other Coverage) {
	for i := range min(len(c.Nodes), len(other.Nodes)) {
		for j := range min(len(c.Nodes[i].Outcomes), len(other.Nodes[i].Outcomes)) {
			c.Nodes[i].Outcomes[j].Scenarios += other.Nodes[i].Outcomes[j].Scenarios
		}
	}
}

// clone returns a copy that shares no counts.
func (c Coverage) clone() Coverage {
	c.Nodes = slices.Clone(c.Nodes)
	for i := range c.Nodes {
		c.Nodes[i].Outcomes = slices.Clone(c.Nodes[i].Outcomes)
	}
	return c
}
