package draw

import (
	"fmt"
	"html"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// SVG returns a drawing of a flow. The element of a node has its id in the attribute data-node.
func SVG(g *engine.Graph, o Options) string { return svg(pictureOf(g, o)) }

// Sketch returns a drawing of a flow that need not be correct: without facts, and without the nodes of
// sub-flows.
func Sketch(f *schemas.Flow) string { return svg(sketchOf(f)) }

func sketchOf(f *schemas.Flow) picture {
	p := picture{title: f.Name}
	number := map[string]int{schemas.End: endBox}
	for _, n := range f.Nodes {
		if _, taken := number[n.ID]; !taken {
			number[n.ID] = len(p.nodes)
			p.nodes = append(p.nodes, box{id: n.ID, kind: n.Use, terminal: n.Next.IsZero(), decides: n.Use == "decision"})
		}
	}
	target := func(name string) int {
		if _, known := number[name]; !known { // an outcome of a sub-flow, or a mistake
			number[name] = len(p.nodes)
			p.nodes = append(p.nodes, box{id: name, kind: "outcome", terminal: true})
		}
		return number[name]
	}
	for _, n := range f.Nodes {
		from, conditions := number[n.ID], conditionsOf(n.Use, n.With)
		if n.Next.To != "" {
			p.links = append(p.links, link{from: from, to: target(n.Next.To)})
		}
		for _, outcome := range n.Next.Outcomes() {
			p.links = append(p.links, link{from: from, to: target(n.Next.By[outcome]), outcome: outcome, condition: conditions[outcome]})
		}
	}
	for _, l := range p.links {
		p.completes = p.completes || l.to == endBox
	}
	return p
}

// The measures of the drawing, in pixels.
const (
	boxWidth, boxHeight = 168, 44
	gapWidth            = 24
	layerDistance       = 50 // from the center of a box to that of the labels below it
	endRadius           = 12
	margin              = 24
	characterWidth      = 6
)

func svg(p picture) string {
	l := layOut(p)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" font-family="system-ui, sans-serif" font-size="12">`+"\n", l.width, l.height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(p.title))
	line := color("field")
	fmt.Fprintf(&b, `<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="%s"/></marker></defs>`+"\n", line)
	for _, e := range l.edges {
		writeEdge(&b, e)
	}
	for _, e := range l.edges {
		writeLabel(&b, e)
	}
	for i, n := range p.nodes {
		writeBox(&b, n, l.at[i])
	}
	if p.completes {
		at := l.at[len(p.nodes)]
		fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="9" fill="none" stroke="%s" stroke-width="2"/><circle cx="%[1]d" cy="%[2]d" r="5" fill="%[3]s"/>`+"\n", at.x, at.y, line)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// writeBox draws a node around its center.
func writeBox(b *strings.Builder, n box, at point) {
	look, dash, radius := n.user.appearance(), "", 6
	if n.untested {
		dash = ` stroke-dasharray="4 3"`
	}
	if n.terminal {
		radius = boxHeight / 2
	}
	id, kind := html.EscapeString(n.id), html.EscapeString(n.kind)
	fmt.Fprintf(b, `<g data-node="%s" tabindex="0" role="button"><title>%s: %s, %s</title>`, id, id, kind, look.name)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s" stroke="%s" stroke-width="1.5"%s/>`,
		at.x-boxWidth/2, at.y-boxHeight/2, boxWidth, boxHeight, radius, look.fill, look.outline, dash)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="%s" font-weight="600">%s</text>`, at.x, at.y-3, color("ink"), html.EscapeString(shortened(n.id)))
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="%s" font-size="11">%s</text></g>`+"\n", at.x, at.y+13, color("ink-2"), html.EscapeString(shortened(n.kind)))
}

// shortened returns a text that fits into a box.
func shortened(s string) string {
	const fit = 25
	return cut(s, fit)
}

// writeEdge draws a curve through the points of an edge, and its label.
func writeEdge(b *strings.Builder, e edge) {
	var path strings.Builder
	fmt.Fprintf(&path, "M%d %d", e.points[0].x, e.points[0].y)
	for i, to := range e.points[1:] {
		from := e.points[i]
		bend := (to.y - from.y) / 2
		fmt.Fprintf(&path, "C%d %d %d %d %d %d", from.x, from.y+bend, to.x, to.y-bend, to.x, to.y)
	}
	dash := ""
	if e.untested {
		dash = ` stroke-dasharray="4 3"`
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="1.3" marker-end="url(#arrow)"%s/>`+"\n", path.String(), color("field"), dash)
}

// writeLabel writes the label of an edge over all edges.
func writeLabel(b *strings.Builder, e edge) {
	if e.label == "" {
		return
	}
	width := labelWidth(e.label)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="15" rx="3" fill="%s" fill-opacity="0.85"/><text x="%d" y="%d" text-anchor="middle" fill="%s" font-size="11">%s</text>`+"\n",
		e.labelAt.x-width/2, e.labelAt.y-8, width, color("surface"), e.labelAt.x, e.labelAt.y+4, color("ink-2"), html.EscapeString(e.label))
}

// labelWidth returns the width of a label.
func labelWidth(label string) int {
	if label == "" {
		return 0
	}
	return len([]rune(label))*characterWidth + 8
}
