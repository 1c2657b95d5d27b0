package draw

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/design"
)

// Mermaid returns a drawing of a flow as a Mermaid flowchart, which GitHub and many editors
// render.
func Mermaid(g *engine.Graph, o Options) string {
	p := pictureOf(g, o)
	var b strings.Builder
	if title, err := json.Marshal(p.title); err == nil { // a JSON string is valid YAML
		fmt.Fprintf(&b, "---\ntitle: %s\n---\n", title)
	}
	b.WriteString("flowchart TD\n  start((start)) --> n0\n")
	p.writeNodes(&b, func(i int, _ string) string {
		return fmt.Sprintf("subgraph g%d[\"%s\"]", i, mermaidText(p.nodes[i].subflow))
	}, p.mermaid, "end")
	if p.completes {
		b.WriteString("  finish(((end)))\n")
	}
	for _, l := range p.links {
		b.WriteString(l.mermaid())
	}
	b.WriteString(mermaidStyles(p))
	return b.String()
}

func (p picture) mermaid(i int) string {
	n := p.nodes[i]
	open, end := `["`, `"]`
	switch {
	case n.terminal:
		open, end = `(["`, `"])`
	case n.decides:
		open, end = `{"`, `"}`
	}
	return fmt.Sprintf("n%d%s%s<br/>%s%s:::%s", i, open, mermaidText(n.id), mermaidText(n.kind), end, n.user.appearance().name)
}

func (l link) mermaid() string {
	label := mermaidText(l.outcome)
	if l.condition != "" {
		label += "<br/>" + mermaidText(l.condition)
	}
	if l.gain != "" {
		label += "<br/>" + l.gain
	}
	arrow := "-->"
	if l.retry {
		arrow = "-.->"
	}
	return fmt.Sprintf("  n%d %s|\"%s\"| %s\n", l.from, arrow, cmp.Or(label, " "), l.target()) // an empty label is a syntax error
}

// mermaidStyles colors nodes by user state and marks untested parts. Link 0 is the link from the
// start.
func mermaidStyles(p picture) string {
	var b strings.Builder
	for _, a := range userStates() {
		fmt.Fprintf(&b, "  classDef %s fill:%s,stroke:%s,color:%s\n", a.name, a.fill, a.outline, color("ink"))
	}
	if !p.coverage {
		return b.String()
	}
	fmt.Fprintf(&b, "  classDef missed stroke:%s,stroke-width:3px,stroke-dasharray:6 4\n", missedColour())
	for i, n := range p.nodes {
		if n.untested {
			fmt.Fprintf(&b, "  class n%d missed\n", i)
		}
	}
	for i, l := range p.links {
		fmt.Fprintf(&b, "  linkStyle %d stroke:%s\n", i+1, l.coverageColour())
	}
	return b.String()
}

// color returns a token of the design. The boxes are light, and their text is dark, so that drawings can be read on
// light and on dark backgrounds.
func color(token string) string { return design.Token(token, design.Light) }

func missedColour() string { return color("red") }

func (l link) coverageColour() string {
	if l.untested {
		return missedColour()
	}
	return color("green")
}

// mermaidText escapes a name. All characters except letters, digits and a few marks become
// character codes, so that no name ends its label or is markup.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" _.-", r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "#%d;", r)
	}
	return b.String()
}
