package flowtest

import "slices"

// Coverage is what scenarios reached of a flow.
type Coverage struct {
	File   string         `json:"file"` // the flow's, as the scenario file leads there
	Handle string         `json:"handle"`
	Nodes  []NodeCoverage `json:"nodes"` // in the order of the flow
}

// NodeCoverage is what scenarios reached of a node.
type NodeCoverage struct {
	ID       string            `json:"id"`
	Kind     string            `json:"kind"`
	Outcomes []OutcomeCoverage `json:"outcomes"`
}

// OutcomeCoverage is how many scenarios left a node by an outcome, "" for that of
// a node which ends the run.
type OutcomeCoverage struct {
	Outcome   string `json:"outcome"`
	Scenarios int    `json:"scenarios"`
}

// exit is how a run leaves a node.
type exit struct{ node, outcome string }

// covered adds up what the scenarios of the worlds reached.
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
				o.Scenarios += w.reached[exit{n.ID, outcome}]
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

// Count returns how many outcomes there are, and how many of them scenarios
// reached.
func (c *Coverage) Count() (reached, all int) {
	for _, n := range c.Nodes {
		all += len(n.Outcomes)
	}
	return all - len(c.Missed()), all
}

// Missed lists the outcomes no scenario reached, as "node outcome", and nodes that
// end a run and were not reached, as "node".
func (c *Coverage) Missed() (list []string) {
	for _, n := range c.Nodes {
		for _, o := range n.Outcomes {
			switch {
			case o.Scenarios > 0:
			case o.Outcome == "":
				list = append(list, n.ID)
			default:
				list = append(list, n.ID+" "+o.Outcome)
			}
		}
	}
	return list
}

// Add adds what other scenarios reached of the same flow.
func (c *Coverage) Add(other Coverage) {
	for i := range min(len(c.Nodes), len(other.Nodes)) {
		for j := range min(len(c.Nodes[i].Outcomes), len(other.Nodes[i].Outcomes)) {
			c.Nodes[i].Outcomes[j].Scenarios += other.Nodes[i].Outcomes[j].Scenarios
		}
	}
}

// clone is a copy that shares no counts.
func (c Coverage) clone() Coverage {
	c.Nodes = slices.Clone(c.Nodes)
	for i := range c.Nodes {
		c.Nodes[i].Outcomes = slices.Clone(c.Nodes[i].Outcomes)
	}
	return c
}
