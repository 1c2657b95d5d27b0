package draw

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/postern-id/postern/engine"
)

// DOT returns a drawing of a flow in the language of Graphviz.
func DOT(g *engine.Graph, o Options) string {
	p := pictureOf(g, o)
	var b strings.Builder
	fmt.Fprintf(&b, "digraph flow {\n  label=%s\n  labelloc=t\n  fontname=\"Helvetica\"\n", dotText(p.title))
	b.WriteString("  node [shape=box style=\"rounded,filled\" fontname=\"Helvetica\" fontsize=12]\n")
	b.WriteString("  edge [fontname=\"Helvetica\" fontsize=10]\n")
	fmt.Fprintf(&b, "  start [shape=circle label=\"start\" fillcolor=%q]\n  start -> n0\n", color("surface"))
	p.writeNodes(&b, func(i int, indent string) string {
		return fmt.Sprintf("subgraph cluster_%d {\n%s  label=%s labelloc=t fontsize=11 style=dashed color=%q", i, indent, dotText(p.nodes[i].subflow), frameColour())
	}, p.dot, "}")
	if p.completes {
		fmt.Fprintf(&b, "  finish [shape=doublecircle label=\"end\" fillcolor=%q]\n", color("surface"))
	}
	for _, l := range p.links {
		b.WriteString(l.dot(p.coverage))
	}
	b.WriteString("}\n")
	return b.String()
}

func (p picture) dot(i int) string {
	n := p.nodes[i]
	look := n.user.appearance()
	more := ""
	switch {
	case n.terminal:
		more = " peripheries=2"
	case n.decides:
		more = " shape=diamond style=filled"
	}
	if n.untested {
		look.outline = missedColour()
		more += " penwidth=2"
	}
	return fmt.Sprintf("n%d [label=%s tooltip=%s fillcolor=%q color=%q%s]",
		i, dotText(n.id+"\n"+n.kind), dotText(look.name), look.fill, look.outline, more)
}

func (l link) dot(coverage bool) string {
	label, more := l.outcome, ""
	if l.condition != "" {
		label += "\n" + l.condition
	}
	if l.gain != "" {
		label += "\n" + l.gain
	}
	if l.retry {
		more = " style=dashed"
	}
	if coverage {
		colour := l.coverageColour()
		more += fmt.Sprintf(" color=%q fontcolor=%q", colour, colour)
	}
	return fmt.Sprintf("  n%d -> %s [label=%s%s]\n", l.from, l.target(), dotText(label), more)
}

// dotText returns text as a quoted string. Backslashes are doubled, because Graphviz expands \N
// and similar sequences in labels, and ampersands are escaped, because it expands entities.
func dotText(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "&", "&amp;").Replace(clean) + `"`
}
