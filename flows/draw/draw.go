// Package draw draws compiled flows, with what the proofs found: where the user
// becomes known, where authenticated, and what ends the run.
//
// All forms of it are of one picture, and an SVG is laid out here too: the layouts
// that there are for Go break down on a flow of sixty nodes, or are in memory from
// the start of every process.
//
// A drawing is the same each time for the same flow. What the author named is
// only ever text in it: no name can add a node, a link or a script.
package draw

import (
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Options say what is drawn beyond the flow itself.
type Options struct {
	// Reached, if not nil, reports whether tests have left a node by an outcome
	// ("" for a node that ends the run). What they have not is marked.
	Reached func(node, outcome string) bool
}

// standing is what is certain about the user when a run comes to a node. The
// order is that of the trust it deserves.
type standing int

const (
	anyone        standing = iota // nobody is known
	named                         // a user was named, and proved nothing
	created                       // this run creates the user
	authenticated                 // the user proved who they are
)

func (s standing) String() string {
	return [...]string{"anyone", "named", "created", "authenticated"}[s]
}

// standingOf reads facts.
func standingOf(facts []engine.Fact) standing {
	switch {
	case slices.Contains(facts, engine.Authenticated):
		return authenticated
	case slices.Contains(facts, engine.New):
		return created
	case slices.Contains(facts, engine.User):
		return named
	}
	return anyone
}

// gain is how a drawing tells that an outcome takes a run to a standing.
func (s standing) gain() string {
	return [...]string{"", "user named", "user created", "✓ authenticated"}[s]
}

// picture is a flow as it is to be drawn.
type picture struct {
	title     string
	nodes     []box
	links     []link
	completes bool // something leads to the end
	coverage  bool
}

// box is a node. Its number stands for it in the drawing, whatever it is called.
type box struct {
	id, kind string
	standing standing
	group    string // the id of the node that stands for the sub-flow it is of, or that it is
	subflow  string // the handle of the sub-flow it stands for
	last     bool   // it ends the run
	branches bool   // it asks nothing and chooses the way
	missed   bool   // no test came by it
}

// link leads from a box to another, or to the end. Its ends are numbers of boxes.
type link struct {
	from, to int
	outcome  string
	gain     string // what the run gains on the way, "" for nothing
	retry    bool   // the node asks again
	missed   bool
}

// theEnd is the number that stands for the end of the run.
const theEnd = -1

func pictureOf(g *engine.Graph, o Options) picture {
	p := picture{title: g.Flow().Name, coverage: o.Reached != nil}
	nodes := g.Nodes()
	number := map[string]int{schemas.End: theEnd}
	for i, n := range nodes {
		number[n.ID] = i
	}
	exits := exitsOf(g)
	for i, name := range exits {
		number[name] = len(nodes) + i
	}
	missed := func(node, outcome string) bool { return o.Reached != nil && !o.Reached(node, outcome) }
	demanded := map[link]string{} // of sessions
	for _, s := range g.Sessions() {
		demanded[link{from: number[s.Node], outcome: s.Outcome}] = s.ACR
	}
	for i, n := range nodes {
		b := box{id: n.ID, kind: n.Kind, standing: standingOf(n.Certain), last: len(n.Edges) == 0, branches: n.Kind == "decision", group: n.Within, subflow: n.Subflow}
		if n.Subflow != "" {
			b.group = n.ID
		}
		b.missed = o.Reached != nil && (!b.last || missed(n.ID, ""))
		for _, e := range n.Edges {
			l := link{from: i, to: number[e.Target], outcome: e.Outcome, retry: e.Retry, missed: missed(n.ID, e.Outcome)}
			if after := standingOf(e.Certain); after > b.standing {
				l.gain = after.gain()
			}
			if acr := demanded[link{from: i, outcome: e.Outcome}]; acr != "" {
				l.gain = "✓ session, acr " + acr
			}
			b.missed = b.missed && l.missed
			p.completes = p.completes || l.to == theEnd
			p.links = append(p.links, l)
		}
		p.nodes = append(p.nodes, b)
	}
	for _, name := range exits {
		p.nodes = append(p.nodes, box{id: name, kind: "outcome", last: true})
	}
	return p
}

// exitsOf lists the outcomes of a sub-flow, sorted; they are drawn as what its nodes
// lead to.
func exitsOf(g *engine.Graph) []string { return slices.Sorted(maps.Keys(g.Flow().Outcomes)) }

// ofGroup reports whether a box belongs to the sub-flow of a group, or to one within.
func (b box) ofGroup(group string) bool {
	return b.group == group || strings.HasPrefix(b.group, group+".")
}
