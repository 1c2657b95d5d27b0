package draw

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/postern-id/postern/engine"
)

// DOT draws a flow in the language of Graphviz.
func DOT(g *engine.Graph, o Options) string {
	p := pictureOf(g, o)
	var b strings.Builder
	fmt.Fprintf(&b, "digraph flow {\n  label=%s\n  labelloc=t\n  fontname=\"Helvetica\"\n", dotText(p.title))
	b.WriteString("  node [shape=box style=\"rounded,filled\" fontname=\"Helvetica\" fontsize=12]\n")
	b.WriteString("  edge [fontname=\"Helvetica\" fontsize=10]\n")
	fmt.Fprintf(&b, "  start [shape=circle label=\"start\" fillcolor=\"#ffffff\"]\n  start -> n0\n")
	p.eachGrouped(func(i, depth int) {
		fmt.Fprintf(&b, "%*ssubgraph cluster_%d {\n%*slabel=%s labelloc=t fontsize=11 style=dashed color=%q\n",
			2*depth, "", i, 2*depth+2, "", dotText(p.nodes[i].subflow), frameColour)
	}, func(i, depth int) {
		fmt.Fprintf(&b, "%*s%s", 2*depth, "", p.nodes[i].dot(i))
	}, func(depth int) {
		fmt.Fprintf(&b, "%*s}\n", 2*depth, "")
	})
	if p.completes {
		b.WriteString("  finish [shape=doublecircle label=\"end\" fillcolor=\"#ffffff\"]\n")
	}
	for _, l := range p.links {
		b.WriteString(l.dot(p.coverage))
	}
	b.WriteString("}\n")
	return b.String()
}

func (n box) dot(i int) string {
	fill, line := n.standing.colours()
	more := ""
	switch {
	case n.last:
		more = " peripheries=2"
	case n.branches:
		more = " shape=diamond style=filled"
	}
	if n.missed {
		line = missedColour
		more += " penwidth=2"
	}
	return fmt.Sprintf("n%d [label=%s tooltip=%s fillcolor=%q color=%q%s]\n",
		i, dotText(n.id+"\n"+n.kind), dotText(n.standing.String()), fill, line, more)
}

func (l link) dot(coverage bool) string {
	label, to, more := l.outcome, "finish", ""
	if l.gain != "" {
		label += "\n" + l.gain
	}
	if l.to != theEnd {
		to = fmt.Sprintf("n%d", l.to)
	}
	if l.retry {
		more = " style=dashed"
	}
	if coverage {
		colour := testedColour
		if l.missed {
			colour = missedColour
		}
		more += fmt.Sprintf(" color=%q fontcolor=%q", colour, colour)
	}
	return fmt.Sprintf("  n%d -> %s [label=%s%s]\n", l.from, to, dotText(label), more)
}

// dotText writes text as a quoted string. A backslash is doubled, for Graphviz
// reads \N and the like in labels as names, and an ampersand is written out, for
// it reads entities.
func dotText(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "&", "&amp;").Replace(clean) + `"`
}
