package engine

import (
	"encoding/json"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// maxMoves is how many nodes one step may visit. Compile refuses graphs with a
// longer way that asks nothing; the bound is there for an executor that leaves by
// its own unwired outcome again and again.
const maxMoves = 100

// maxUnattendedNodes is how many nodes in a row may ask nothing: a step also visits the
// node that was answered and the one that asks next.
const maxUnattendedNodes = maxMoves - 2

// endNode is the index that stands for the reserved target "end". The further ways
// out of a sub-flow stand below it.
const endNode = -1

// Graph is a flow that has been compiled and proven. It is immutable and safe
// for use by many goroutines.
type Graph struct {
	flow     *schemas.Flow
	nodes    []node
	inputs   map[string]schemas.InputType // of everything the nodes collect
	warnings []schemas.Problem
	exits    []string // the names that lead out, for endNode and below

	guarantees schemas.Guarantees
}

// node is one compiled node: its executor and its ways out.
type node struct {
	id    string
	kind  *Kind
	exec  Executor
	needs []Need // after the proofs: those that are not waived
	edges []edge
	in    Facts // certain on arrival; nil: no path leads here
	unmet bool  // it needs what is not certain: such a flow makes no graph

	config  json.RawMessage
	within  string // the id of the node that stands for the sub-flow it is of
	subflow string // the handle of the sub-flow it stands for
}

// edge is an outcome and where it leads. A retry leads back to its own node
// because the flow left an optional outcome unwired.
type edge struct {
	Outcome
	target int
	retry  bool
}

// Flow returns the definition the graph was compiled from. It is for reading.
func (g *Graph) Flow() *schemas.Flow { return g.flow }

// Warnings returns the findings that refuse nothing, such as waived ones.
func (g *Graph) Warnings() []schemas.Problem { return g.warnings }

// Node describes one node of a compiled graph.
type Node struct {
	ID, Kind string
	// Within is the node that uses the sub-flow which this one is part of, "" if it
	// is one of the flow itself.
	Within string
	// Subflow is the handle of the sub-flow that the node uses, if any. Its nodes
	// follow it.
	Subflow string
	// With is the schema of its configuration, nil if the kind takes none, and Config
	// the configuration that the definition gives.
	With   *schemas.Schema
	Config json.RawMessage
	// Certain are the facts that hold on every path to the node.
	Certain []Fact
	// Edges are its outcomes, in the order of the kind's documentation.
	Edges []Edge
}

// Edge describes where an outcome leads: a node id, or schemas.End. Retry marks
// an optional outcome that the flow left unwired. Certain are the facts that hold
// whenever a run has left the node by the outcome.
type Edge struct {
	Outcome, Target string
	Retry           bool
	Certain         []Fact
}

// Nodes describes the graph, in the order of the definition.
func (g *Graph) Nodes() []Node {
	list := make([]Node, len(g.nodes))
	for i, n := range g.nodes {
		list[i] = Node{ID: n.id, Kind: n.kind.Name, Within: n.within, Subflow: n.subflow, With: n.kind.With, Config: n.config, Certain: n.in.List()}
		for _, e := range n.edges {
			list[i].Edges = append(list[i].Edges, Edge{Outcome: e.Name, Target: g.name(e.target), Retry: e.retry, Certain: n.in.after(e.Outcome).List()})
		}
	}
	return list
}

// name returns the id of the node at index i.
func (g *Graph) name(i int) string {
	if i < 0 {
		return g.exits[endNode-i]
	}
	return g.nodes[i].id
}

// find returns the index of the node with the id.
func (g *Graph) find(id string) (int, bool) {
	i := slices.IndexFunc(g.nodes, func(n node) bool { return n.id == id })
	return i, i >= 0
}

// edge returns the way out with the name.
func (n *node) edge(outcome string) (edge, bool) {
	for _, e := range n.edges {
		if e.Name == outcome {
			return e, true
		}
	}
	return edge{}, false
}
