// Package draw draws compiled flows with the results of the proofs: where the user is
// identified, where they authenticate, and what ends the run.
//
// All formats show the same picture.
//
// The drawing of a flow is deterministic. Names from the flow appear only as text: no name can
// add a node, a link or a script.
package draw

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Options control what is drawn in addition to the flow.
type Options struct {
	// Reached, if not nil, reports whether tests have left a node by an outcome ("" for a node
	// that ends the run). Untested parts are marked.
	Reached func(node, outcome string) bool
}

// userState is what is certain about the user on arrival at a node: an index of userStates.
type userState int

// appearance is the appearance of a state of the user in drawings.
type appearance struct {
	fact          engine.Fact // is certain in this state, "" for the first
	name, gain    string      // gain labels an outcome that leads to the state
	fill, outline string      // colors that are readable on light and on dark backgrounds
}

// userStates are the states of the user, in the order of trust.
func userStates() []appearance {
	return []appearance{
		{"", "anyone", "", color("sunken"), color("field")},
		{engine.User, "identified", "user identified", color("amber-soft"), color("amber")},
		{engine.New, "created", "user created", color("blue-soft"), color("blue")},
		{engine.Authenticated, "authenticated", "✓ authenticated", color("green-soft"), color("green")},
	}
}

func (s userState) appearance() appearance { return userStates()[s] }

// userStateOf derives the state from facts.
func userStateOf(facts []engine.Fact) (state userState) {
	for i, s := range userStates() {
		if slices.Contains(facts, s.fact) {
			state = userState(i)
		}
	}
	return state
}

// picture is a flow as it is drawn.
type picture struct {
	title     string
	nodes     []box
	links     []link
	completes bool // something leads to the end
	coverage  bool
}

// box is a node. Its index identifies it in the drawing, whatever its name.
type box struct {
	id, kind string
	user     userState
	group    string // the ID of the node that uses its sub-flow, or its own if it uses one
	subflow  string // the handle of the sub-flow that it uses
	terminal bool   // it ends the run
	decides  bool   // it asks nothing and chooses the path
	untested bool   // no test reached it
}

// link leads from a box to another, or to the end. Its ends are indexes of boxes.
type link struct {
	from, to  int
	outcome   string
	condition string // when a decision has the outcome, "" if it is no decision or no condition is true
	gain      string // what the run gains, "" for nothing
	retry     bool   // the node asks again
	untested  bool
}

// target returns the name of the target in DOT and Mermaid.
func (l link) target() string {
	if l.to == endBox {
		return "finish"
	}
	return fmt.Sprintf("n%d", l.to)
}

// endBox is the index of the end of the run.
const endBox = -1

func pictureOf(g *engine.Graph, o Options) picture {
	p := picture{title: g.Flow().Name, coverage: o.Reached != nil}
	nodes := g.Nodes()
	number := map[string]int{schemas.End: endBox}
	for i, n := range nodes {
		number[n.ID] = i
	}
	exits := slices.Sorted(maps.Keys(g.Flow().Outcomes)) // of a sub-flow; they are drawn as nodes
	for i, name := range exits {
		number[name] = len(nodes) + i
	}
	missed := func(node, outcome string) bool { return o.Reached != nil && !o.Reached(node, outcome) }
	demanded := map[link]string{} // for sessions
	for _, s := range g.Sessions() {
		demanded[link{from: number[s.Node], outcome: s.Outcome}] = s.ACR
	}
	for i, n := range nodes {
		b := box{id: n.ID, kind: n.Kind, user: userStateOf(n.Certain), terminal: len(n.Edges) == 0, decides: n.Kind == "decision", group: n.Within, subflow: n.Subflow}
		if n.Subflow != "" {
			b.group = n.ID
		}
		b.untested = o.Reached != nil && (!b.terminal || missed(n.ID, ""))
		conditions := conditionsOf(n.Kind, n.Config)
		for _, e := range n.Edges {
			l := link{from: i, to: number[e.Target], outcome: e.Outcome, condition: conditions[e.Outcome], retry: e.Retry, untested: missed(n.ID, e.Outcome)}
			if after := userStateOf(e.Certain); after > b.user {
				l.gain = after.appearance().gain
			}
			if acr := demanded[link{from: i, outcome: e.Outcome}]; acr != "" {
				l.gain = "✓ session, acr " + acr
			}
			b.untested = b.untested && l.untested
			p.completes = p.completes || l.to == endBox
			p.links = append(p.links, l)
		}
		p.nodes = append(p.nodes, b)
	}
	for _, name := range exits {
		p.nodes = append(p.nodes, box{id: name, kind: "outcome", terminal: true})
	}
	return p
}

// conditionsOf returns the condition of each outcome of a decision, those of several cases joined with or.
func conditionsOf(kind string, config json.RawMessage) map[string]string {
	var decision struct {
		Cases []struct{ When, Outcome string }
	}
	if kind != "decision" || json.Unmarshal(config, &decision) != nil {
		return nil
	}
	conditions := map[string]string{}
	for _, one := range decision.Cases {
		when := strings.Join(strings.Fields(one.When), " ")
		if before := conditions[one.Outcome]; before != "" {
			when = before + " or " + when
		}
		conditions[one.Outcome] = when
	}
	for outcome, when := range conditions {
		conditions[outcome] = cut(when, 60)
	}
	return conditions
}

// withCondition returns the outcome of a link, with its condition.
func withCondition(l link) string {
	if l.condition == "" {
		return l.outcome
	}
	return l.outcome + ": " + l.condition
}

// cut returns at most the first n characters of a text.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
