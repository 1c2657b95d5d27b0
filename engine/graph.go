package engine

import (
	"encoding/json"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// endNode is the index of the reserved target "end". The other exits of a sub-flow have the
// indexes below it.
const endNode = -1

// Graph is a compiled and proven flow. It is immutable and safe for concurrent use.
type Graph struct {
	flow     *schemas.Flow
	nodes    []node
	inputs   map[string]schemas.InputType // of all inputs that the nodes collect
	warnings []schemas.Problem
	exits    []string // the names of the exits, for endNode and below

	guarantees schemas.Guarantees
}

// node is one compiled node: its executor and its edges.
type node struct {
	id    string
	kind  *Kind
	exec  Executor
	needs []Need // after the proofs: without the waived ones
	edges []edge
	in    Facts // certain on arrival; nil: unreachable
	unmet bool  // a need does not hold: such a flow has no graph

	config  json.RawMessage
	waived  []string // the rules whose findings at the node are waived
	within  string   // the ID of the node that uses the sub-flow of this node
	subflow string   // the handle of the sub-flow that this node uses
}

// edge is an outcome and its target. A retry leads back to its own node because the flow left an
// optional outcome unwired.
type edge struct {
	Outcome
	target int
	retry  bool
}

// Flow returns the definition of the graph. Callers must not change it.
func (g *Graph) Flow() *schemas.Flow { return g.flow }

// Warnings returns the findings that are not errors, such as waived ones.
func (g *Graph) Warnings() []schemas.Problem { return g.warnings }

// Node describes one node of a compiled graph.
type Node struct {
	ID, Kind string
	// Within is the ID of the node that uses the sub-flow of this node, "" for a node of the
	// flow itself.
	Within string
	// Subflow is the handle of the sub-flow that the node uses, if any. The nodes of that
	// sub-flow follow it.
	Subflow string
	// With is the schema of the configuration, nil if the kind takes none. Config is the
	// configuration of the definition.
	With   *schemas.Schema
	Config json.RawMessage
	// Waived contains the rules whose findings at the node are waived.
	Waived []string
	// Certain contains the facts that hold on every path to the node.
	Certain []Fact
	// Completes means that a run ends here with a sign-in.
	Completes bool
	// Edges are the outcomes, in the order of the kind's documentation.
	Edges []Edge
}

// Edge describes the target of an outcome: a node ID, or schemas.End. Retry marks an optional
// outcome that the flow left unwired. Certain contains the facts that hold whenever a run has
// left the node by the outcome, and Effect is what that means to the account.
type Edge struct {
	Outcome, Target string
	Retry           bool
	Certain         []Fact
	Effect          Effect
}

// Nodes describes the graph, in the order of the definition.
func (g *Graph) Nodes() []Node {
	list := make([]Node, len(g.nodes))
	for i, n := range g.nodes {
		list[i] = Node{ID: n.id, Kind: n.kind.Name, Within: n.within, Subflow: n.subflow, With: n.kind.With, Config: n.config, Waived: n.waived, Certain: n.in,
			Completes: n.kind.Terminal && !n.kind.Denies}
		for _, e := range n.edges {
			list[i].Edges = append(list[i].Edges, Edge{Outcome: e.name, Target: g.name(e.target), Retry: e.retry, Certain: n.in.after(e.Outcome), Effect: e.effect})
		}
	}
	return list
}

// name returns the ID of the node at index i.
func (g *Graph) name(i int) string {
	if i < 0 {
		return g.exits[endNode-i]
	}
	return g.nodes[i].id
}

// find returns the index of the node with the ID.
func (g *Graph) find(id string) (int, bool) {
	i := slices.IndexFunc(g.nodes, func(n node) bool { return n.id == id })
	return i, i >= 0
}

// edge returns the edge with the name.
func (n *node) edge(outcome string) (edge, bool) {
	i := slices.IndexFunc(n.edges, func(e edge) bool { return e.name == outcome })
	if i < 0 {
		return edge{}, false
	}
	return n.edges[i], true
}

// targets returns the nodes that the edges lead to, each once.
func (n *node) targets() (list []int) {
	for _, e := range n.edges {
		if e.target >= 0 && !slices.Contains(list, e.target) {
			list = append(list, e.target)
		}
	}
	return list
}
