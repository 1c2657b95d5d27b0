package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
)

// SVG returns a drawing of a flow as an SVG 1.1 image that follows the reader's preference for
// light or dark. It contains no script and no external references.
func SVG(g *engine.Graph, o Options) string {
	l := layoutOf(pictureOf(g, o))
	s := &svgWriter{layout: l}
	marks := l.picture.legend()
	width := max(l.width, textWidth(shorten(l.picture.title, maxTitle), titleSize+bold)+2*margin, legendWidth(marks)+2*margin)
	height := l.height + legendHeight
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="title">`+"\n", width, height, width, height)
	s.printf("<title id=\"title\">%s</title>\n<style>\n%s</style>\n", svgText(l.picture.title), styles)
	s.printf("<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", width, height)
	s.text(margin, margin+titleSize, "title start", shorten(l.picture.title, maxTitle))
	s.printf("<g transform=\"translate(%d)\">\n", (width-l.width)/2)
	s.drawFrames()
	for i := range l.routes {
		s.route(&l.routes[i])
	}
	s.terminal(l.start, "start", "pill")
	for i := range l.picture.nodes {
		s.node(i)
	}
	if l.picture.completes {
		s.terminal(l.finish, "end", "pill twice")
	}
	s.printf("</g>\n")
	s.legend(marks, l.height+legendHeight/2)
	s.printf("</svg>\n")
	return s.b.String()
}

// svgWriter writes a layout as SVG.
type svgWriter struct {
	*layout
	b strings.Builder
}

func (s *svgWriter) printf(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

// text writes a line of text with the baseline at y.
func (s *svgWriter) text(x, y int, class, text string) {
	s.printf("<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n", x, y, class, svgText(text))
}

// lines writes lines of a label below each other, from y downwards.
func (s *svgWriter) lines(x, y int, class string, lines []labelLine) {
	for i, line := range lines {
		s.text(x, y+(i+1)*lineHeight-4, line.class()+class, line.text)
	}
}

func (s *svgWriter) rect(class string, x, y, width, height, radius int) {
	s.printf("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n", class, x, y, width, height, radius)
}

// node draws a node: with round sides if it ends the run, with pointed sides if it is a
// decision.
func (s *svgWriter) node(i int) {
	n, at := s.picture.nodes[i], s.cells[i]
	class := n.user.String()
	if n.untested {
		class += " missed"
	}
	s.printf("<g class=\"%s\"><title>%s</title>\n", class, svgText(n.id+" ("+n.kind+"): "+n.user.String()))
	x, y, w, h := at.x-at.left, at.y, 2*at.left, at.height
	switch {
	case n.decides:
		s.printf("<path class=\"box\" d=\"M%d %dh%dl10 %dl-10 %dh-%dl-10 -%dz\"/>\n", x+10, y, w-20, h/2, h-h/2, w-20, h-h/2)
	case n.terminal:
		s.rect("box", x, y, w, h, h/2)
	default:
		s.rect("box", x, y, w, h, 6)
	}
	s.text(at.x, y+h/2-3, "id", shorten(n.id, maxName))
	s.text(at.x, y+h/2+kindSize+3, "kind", shorten(n.kindLabel(), maxName))
	s.printf("</g>\n")
	y += (h - loopsHeight(s.loops[i])) / 2
	for _, k := range s.loops[i] {
		s.loop(x+w, y, k)
		y += loopHeight(k)
	}
}

// loop draws a link from a node to itself, to the right of the node.
func (s *svgWriter) loop(x, y int, k link) {
	label := linkLabels(k)
	middle := y + loopHeight(k)/2
	s.printf("<path class=\"%s\" d=\"M%d %dh12a6 6 0 0 1 0 12h-6\"/>\n", s.lineClass([]link{k}), x, middle-6)
	s.printf("<path class=\"%s\" d=\"M%d %dl8 -4v8z\"/>\n", s.headClass([]link{k}), x, middle+6)
	s.lines(x+loopReach, middle-len(label)*lineHeight/2, " start", label)
}

// terminal draws the start or the end.
func (s *svgWriter) terminal(i int, name, class string) {
	at := s.cells[i]
	s.rect(class, at.x-at.left, at.y, 2*at.left, at.height, at.height/2)
	s.text(at.x, at.y+at.height/2+4, "kind", name)
}

// route draws the line of a route, interrupted by its label, its arrow head and the label.
func (s *svgWriter) route(r *route) {
	var d strings.Builder
	for i, to := range r.cells[1:] {
		from := r.cells[i]
		x0, y0 := s.port(from, to, below)
		x1, y1 := s.port(to, from, above)
		out, in := s.bottoms[s.cells[from].row], s.tops[s.cells[to].row]
		fmt.Fprintf(&d, "M%d %dV%d", x0, y0, out)
		if max(x0-x1, x1-x0) < 4 {
			fmt.Fprintf(&d, "L%d %d", x1, y1)
			continue
		}
		fmt.Fprintf(&d, "C%d %d %d %d %d %dV%d", x0, (out+in)/2, x1, (out+in)/2, x1, in, y1)
	}
	s.printf("<path class=\"%s\" d=\"%s\"/>\n", s.lineClass(r.links), d.String())
	if last := len(r.cells) - 1; r.reversed {
		x, y := s.port(r.cells[0], r.cells[1], below)
		s.printf("<path class=\"%s\" d=\"M%d %dl-4 8h8z\"/>\n", s.headClass(r.links), x, y)
	} else if r.farTarget == "" {
		x, y := s.port(r.cells[last], r.cells[last-1], above)
		s.printf("<path class=\"%s\" d=\"M%d %dl-4 -8h8z\"/>\n", s.headClass(r.links), x, y)
	}
	if !r.unlabeled {
		at := s.cells[r.labelAt]
		s.lines(at.x, at.y, "", r.labels())
	}
}

// port returns where a line from another cell meets cell i on a side.
func (s *svgWriter) port(i, other int, on side) (x, y int) {
	c := &s.cells[i]
	x, y = c.x+c.port(other, on), c.y
	switch {
	case c.passing:
		y = s.tops[c.row] // the line continues through the row
	case on == below:
		y += c.height
	}
	return x, y
}

func (s *svgWriter) lineClass(links []link) string {
	class := "line"
	if len(links) > 0 && !slices.ContainsFunc(links, func(k link) bool { return !k.retry }) {
		class += " retry"
	}
	return class + s.tested(links)
}

func (s *svgWriter) headClass(links []link) string { return "head" + s.tested(links) }

// tested returns the class of links by test coverage: one tested link is enough.
func (s *svgWriter) tested(links []link) string {
	switch {
	case !s.picture.coverage || len(links) == 0:
		return ""
	case slices.ContainsFunc(links, func(k link) bool { return !k.untested }):
		return " tested"
	}
	return " missed"
}

func (l labelLine) class() string {
	switch {
	case l.untested:
		return "word missed"
	case l.gain:
		return "word gain"
	}
	return "word"
}
