package draw

import (
	"encoding/xml"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Sizes, in pixels.
const (
	bold         = 2 // bold text is as wide as text larger by this
	titleSize    = 15
	idSize       = 13
	kindSize     = 11
	wordSize     = 11
	lineHeight   = 14
	nodeHeight   = 44
	titleHeight  = 28
	loopReach    = 24 // from a node to the labels of its loops
	legendHeight = 36
)

// The maximum length of names, in characters.
const (
	maxName  = 36
	maxTitle = 100
)

// labelLine is a line of the label of a link.
type labelLine struct {
	text           string
	gain, untested bool
}

func linkLabels(k link) []labelLine {
	outcome := shorten(k.outcome, maxName)
	if k.untested {
		outcome = "✗ " + outcome // the color alone is not accessible
	}
	list := []labelLine{{text: outcome, untested: k.untested}}
	if k.gain != "" {
		list = append(list, labelLine{text: k.gain, gain: true, untested: k.untested})
	}
	return list
}

// labels returns the label of a route: those of its links, and its target if that is far.
func (r *route) labels() (list []labelLine) {
	for _, k := range r.links {
		list = append(list, linkLabels(k)...)
	}
	if r.farTarget != "" {
		list = append(list, labelLine{text: "→ " + shorten(r.farTarget, maxName)})
	}
	return list
}

// labelCell returns the cell of a route's label.
func (r *route) labelCell(row int) cell {
	lines := r.labels()
	half := widest(lines)/2 + 4
	return cell{row: row, left: half, right: half, height: len(lines) * lineHeight}
}

// cell returns the cell of a node, with its loops to the right.
func (n box) cell(loops []link) cell {
	half := max(textWidth(shorten(n.id, maxName), idSize+bold), textWidth(shorten(n.kindLabel(), maxName), kindSize), 60)/2 + 16
	s := cell{left: half, right: half, height: nodeHeight}
	for _, k := range loops {
		s.right = max(s.right, half+loopReach+widest(linkLabels(k)))
	}
	s.height = max(s.height, 8+loopsHeight(loops))
	return s
}

func loopsHeight(loops []link) (height int) {
	for _, k := range loops {
		height += loopHeight(k)
	}
	return height
}

// terminalCell returns the cell of the start or the end.
func terminalCell(name string) cell {
	half := textWidth(name, kindSize)/2 + 12
	return cell{left: half, right: half, height: 24}
}

func loopHeight(k link) int { return max(len(linkLabels(k))*lineHeight, 16) + 6 }

func widest(lines []labelLine) (w int) {
	for _, line := range lines {
		w = max(w, textWidth(line.text, wordSize))
	}
	return w
}

// textWidth estimates the width of text in a size; the viewer's fonts are not known.
func textWidth(s string, size int) int {
	tenths := 0
	for _, r := range s {
		switch k := width.LookupRune(r).Kind(); {
		case k == width.EastAsianWide || k == width.EastAsianFullwidth:
			tenths += 10
		case unicode.IsUpper(r):
			tenths += 7
		case strings.ContainsRune("iljft.,:;|' ", r):
			tenths += 4
		default:
			tenths += 6
		}
	}
	return tenths*size/10 + 1
}

// shorten cuts a long name; the title of its node contains all of it.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// svgText escapes a name as the text of an element. It replaces control characters, including
// those that reverse the direction of the text around them.
func svgText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder returns no errors
	return b.String()
}
