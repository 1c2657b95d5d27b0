package draw

import (
	_ "embed"
	"slices"
)

// styles contains the colors, by user state and mark. Viewers without media queries show the
// light ones.
//
//go:embed style.css
var styles string

// mark is an entry of the legend.
type mark struct{ class, text string }

// legend returns the entries for the colors in the picture.
func (p picture) legend() []mark {
	var list []mark
	for state := anyone; state <= authenticated; state++ {
		if slices.ContainsFunc(p.nodes, func(n box) bool { return n.user == state }) {
			list = append(list, mark{state.String(), state.appearance().legend})
		}
	}
	if p.coverage {
		list = append(list, mark{"anyone missed", "✗ not reached by a test"})
	}
	return list
}

const markWidth = 30 // of a mark's swatch and the gaps around it

func legendWidth(marks []mark) (w int) {
	for _, m := range marks {
		w += markWidth + textWidth(m.text, kindSize)
	}
	return w
}

// legend writes the entries on one line.
func (s *svgWriter) legend(marks []mark, y int) {
	x := margin
	for _, m := range marks {
		s.printf("<g class=\"%s\">", m.class)
		s.rect("box", x, y-6, 14, 12, 3)
		s.printf("</g>\n")
		s.text(x+20, y+4, "kind start", m.text)
		x += markWidth + textWidth(m.text, kindSize)
	}
}
