package draw

import (
	"encoding/xml"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Sizes, in pixels.
const (
	bold         = 2 // by how much bold text is as wide as larger text
	titleSize    = 15
	idSize       = 13
	kindSize     = 11
	wordSize     = 11
	lineHeight   = 14
	nodeHeight   = 44
	titleHeight  = 28
	loopReach    = 24 // from a node to the words of its loops
	legendHeight = 36
)

// How many characters of a name are shown.
const (
	nameMost  = 36
	titleMost = 100
)

// word is a line of the words of a link.
type word struct {
	text         string
	gain, missed bool
}

func wordsOf(k link) []word {
	outcome := shorten(k.outcome, nameMost)
	if k.missed {
		outcome = "✗ " + outcome // not told by its colour alone
	}
	list := []word{{text: outcome, missed: k.missed}}
	if k.gain != "" {
		list = append(list, word{text: k.gain, gain: true, missed: k.missed})
	}
	return list
}

// lines are the words of a route: those of its links, and where it leads if it is
// not drawn as a line.
func (r *route) lines() (list []word) {
	for _, k := range r.links {
		list = append(list, wordsOf(k)...)
	}
	if r.afar != "" {
		list = append(list, word{text: "→ " + shorten(r.afar, nameMost)})
	}
	return list
}

// box is the spot of a route's words.
func (r *route) box(row int) spot {
	lines := r.lines()
	half := widest(lines)/2 + 4
	return spot{row: row, left: half, right: half, height: len(lines) * lineHeight}
}

// spot is that of a node, with its loops at its right.
func (n box) spot(loops []link) spot {
	half := max(textWidth(shorten(n.id, nameMost), idSize+bold), textWidth(shorten(n.sort(), nameMost), kindSize), 60)/2 + 16
	s := spot{left: half, right: half, height: nodeHeight}
	reach, height := 0, 8
	for _, k := range loops {
		reach = max(reach, loopReach+widest(wordsOf(k)))
		height += loopHeight(k)
	}
	s.right += reach
	s.height = max(s.height, height)
	return s
}

// pill is the spot of the start or the end.
func pill(name string) spot {
	half := textWidth(name, kindSize)/2 + 12
	return spot{left: half, right: half, height: 24}
}

func loopHeight(k link) int { return max(len(wordsOf(k))*lineHeight, 16) + 6 }

func widest(lines []word) (w int) {
	for _, line := range lines {
		w = max(w, textWidth(line.text, wordSize))
	}
	return w
}

// textWidth is about how wide text of a size is; a picture knows nothing of the
// fonts of who looks at it.
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

// shorten cuts a long name; the whole of it is in the title of its node.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// svgText writes a name as the text of an element: no name ends its element or
// begins another, and none can turn what stands beside it around.
func svgText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes all
	return b.String()
}
