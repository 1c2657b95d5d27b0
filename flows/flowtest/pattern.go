package flowtest

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// matching returns a short value that matches a pattern as a whole and has a length within the limits; false if
// none was found. max 0 is no limit.
func matching(pattern string, minLength, maxLength int) (string, bool) {
	whole, err := regexp.Compile(`^(?:` + pattern + `)$`)
	if err != nil {
		return "", false
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	for _, repeats := range []int{1, 0, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128} {
		for choice := range 4 {
			m := &maker{repeats: repeats, choice: choice}
			m.write(parsed)
			value := m.text.String()
			n := utf8.RuneCountInString(value)
			if value != "" && strings.TrimSpace(value) == value && n >= minLength && (maxLength == 0 || n <= maxLength) && whole.MatchString(value) {
				return value, true
			}
		}
	}
	return "", false
}

// maxMade limits the length of a value.
const maxMade = 4096

// maker writes a value of a pattern: each part that may repeat does so a number of times, and each choice is
// made in the same way.
type maker struct {
	repeats, choice int
	text            strings.Builder
}

func (m *maker) write(re *syntax.Regexp) {
	if m.text.Len() > maxMade {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		m.text.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		m.text.WriteRune(member(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		m.text.WriteRune('a')
	case syntax.OpStar:
		m.repeat(re.Sub[0], m.repeats)
	case syntax.OpPlus:
		m.repeat(re.Sub[0], max(1, m.repeats))
	case syntax.OpQuest:
		m.repeat(re.Sub[0], min(1, m.repeats))
	case syntax.OpRepeat:
		n := max(re.Min, m.repeats)
		if re.Max >= 0 {
			n = min(n, re.Max)
		}
		m.repeat(re.Sub[0], n)
	case syntax.OpAlternate:
		m.write(re.Sub[m.choice%len(re.Sub)])
	default: // a group, parts in a row, or a condition that the result is checked for
		for _, part := range re.Sub {
			m.write(part)
		}
	}
}

func (m *maker) repeat(re *syntax.Regexp, n int) {
	for range n {
		m.write(re)
	}
}

// member returns a usual character of a class, which is a list of ranges.
func member(ranges []rune) rune {
	for _, usual := range "a1A-" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= usual && usual <= ranges[i+1] {
				return usual
			}
		}
	}
	if len(ranges) == 0 {
		return utf8.RuneError
	}
	return ranges[0]
}
