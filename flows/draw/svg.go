package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
)

// SVG draws a flow as a picture (SVG 1.1), light or dark as its reader prefers.
// It holds no script and refers to nothing outside.
func SVG(g *engine.Graph, o Options) string {
	l := layoutOf(pictureOf(g, o))
	s := &sheet{layout: l}
	marks := l.picture.legend()
	width := max(l.width, textWidth(shorten(l.picture.title, titleMost), titleSize+bold)+2*margin, legendWidth(marks)+2*margin)
	height := l.height + legendHeight
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="title">`+"\n", width, height, width, height)
	s.printf("<title id=\"title\">%s</title>\n<style>%s</style>\n", svgText(l.picture.title), styles)
	s.printf("<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", width, height)
	s.text(margin, margin+titleSize, "title start", shorten(l.picture.title, titleMost))
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

// sheet is a picture that is being written.
type sheet struct {
	*layout
	b strings.Builder
}

func (s *sheet) printf(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

// text writes a line, y being where the letters stand.
func (s *sheet) text(x, y int, class, text string) {
	s.printf("<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n", x, y, class, svgText(text))
}

// node draws a node: rounded at its sides if it ends the run, pointed if it chooses
// the way.
func (s *sheet) node(i int) {
	n, at := s.picture.nodes[i], s.spots[i]
	class := n.standing.String()
	if n.missed {
		class += " missed"
	}
	s.printf("<g class=\"%s\"><title>%s</title>\n", class, svgText(n.id+" ("+n.kind+"): "+n.standing.String()))
	x, y, w, h := at.x-at.left, at.y, 2*at.left, at.height
	switch {
	case n.branches:
		s.printf("<path class=\"box\" d=\"M%d %dh%dl10 %dl-10 %dh-%dl-10 -%dz\"/>\n", x+10, y, w-20, h/2, h-h/2, w-20, h-h/2)
	case n.last:
		s.printf("<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n", x, y, w, h, h/2)
	default:
		s.printf("<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", x, y, w, h)
	}
	s.text(at.x, y+h/2-3, "id", shorten(n.id, nameMost))
	s.text(at.x, y+h/2+kindSize+3, "kind", shorten(n.sort(), nameMost))
	s.printf("</g>\n")
	y += (h - s.loopsHeight(i)) / 2
	for _, k := range s.loops[i] {
		s.loop(x+w, y, k)
		y += loopHeight(k)
	}
}

func (s *sheet) loopsHeight(i int) (h int) {
	for _, k := range s.loops[i] {
		h += loopHeight(k)
	}
	return h
}

// loop draws a link from a node to itself, at the right side of the node.
func (s *sheet) loop(x, y int, k link) {
	words := wordsOf(k)
	middle := y + loopHeight(k)/2
	s.printf("<path class=\"%s\" d=\"M%d %dh12a6 6 0 0 1 0 12h-6\"/>\n", s.lineClass([]link{k}), x, middle-6)
	s.printf("<path class=\"%s\" d=\"M%d %dl8 -4v8z\"/>\n", s.headClass([]link{k}), x, middle+6)
	at := middle - len(words)*lineHeight/2
	for _, w := range words {
		at += lineHeight
		s.text(x+loopReach, at-4, s.wordClass(w)+" start", w.text)
	}
}

// terminal draws the start or the end.
func (s *sheet) terminal(i int, name, class string) {
	at := s.spots[i]
	s.printf("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n", class, at.x-at.left, at.y, 2*at.left, at.height, at.height/2)
	s.text(at.x, at.y+at.height/2+4, "kind", name)
}

// route draws a link: its line, which its words interrupt, its head, and the words.
func (s *sheet) route(r *route) {
	var d strings.Builder
	for i, to := range r.spots[1:] {
		from := r.spots[i]
		x0, y0 := s.spots[from].x+s.spots[from].port(to, false), s.under(from)
		x1, y1 := s.spots[to].x+s.spots[to].port(from, true), s.over(to)
		out, in := s.bottoms[s.spots[from].row], s.tops[s.spots[to].row]
		fmt.Fprintf(&d, "M%d %dV%d", x0, y0, out)
		if max(x0-x1, x1-x0) < 4 {
			fmt.Fprintf(&d, "L%d %d", x1, y1)
			continue
		}
		fmt.Fprintf(&d, "C%d %d %d %d %d %dV%d", x0, (out+in)/2, x1, (out+in)/2, x1, in, y1)
	}
	s.printf("<path class=\"%s\" d=\"%s\"/>\n", s.lineClass(r.links), d.String())
	last := len(r.spots) - 1
	switch {
	case r.afar != "":
	case r.upwards:
		x := s.spots[r.spots[0]].x + s.spots[r.spots[0]].port(r.spots[1], false)
		s.printf("<path class=\"%s\" d=\"M%d %dl-4 8h8z\"/>\n", s.headClass(r.links), x, s.under(r.spots[0]))
	default:
		x := s.spots[r.spots[last]].x + s.spots[r.spots[last]].port(r.spots[last-1], true)
		s.printf("<path class=\"%s\" d=\"M%d %dl-4 -8h8z\"/>\n", s.headClass(r.links), x, s.over(r.spots[last]))
	}
	if !r.straight {
		s.words(r)
	}
}

// over and under are where lines meet a spot from above and from below.
func (s *sheet) over(i int) int {
	if s.spots[i].bend {
		return s.tops[s.spots[i].row]
	}
	return s.spots[i].y
}

func (s *sheet) under(i int) int {
	if s.spots[i].bend {
		return s.over(i) // the line goes on through the row
	}
	return s.spots[i].y + s.spots[i].height
}

func (s *sheet) words(r *route) {
	at := s.spots[r.words]
	y := at.y
	for _, w := range r.lines() {
		y += lineHeight
		s.text(at.x, y-4, s.wordClass(w), w.text)
	}
}

func (s *sheet) lineClass(links []link) string {
	class := "line"
	if len(links) > 0 && !slices.ContainsFunc(links, func(k link) bool { return !k.retry }) {
		class += " retry"
	}
	return class + s.tested(links)
}

func (s *sheet) headClass(links []link) string { return "head" + s.tested(links) }

// tested says of links whether a test came by one of them.
func (s *sheet) tested(links []link) string {
	switch {
	case !s.picture.coverage || len(links) == 0:
		return ""
	case slices.ContainsFunc(links, func(k link) bool { return !k.missed }):
		return " tested"
	}
	return " missed"
}

func (s *sheet) wordClass(w word) string {
	switch {
	case w.missed:
		return "word missed"
	case w.gain:
		return "word gain"
	}
	return "word"
}
