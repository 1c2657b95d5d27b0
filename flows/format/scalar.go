package format

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/postern-id/postern/flows/syntax"
)

// scalarText returns a scalar on one line. A text without quotes stays without quotes.
func scalarText(n *syntax.Node) string {
	if n.Style == syntax.Plain || isPlain(n.Value) {
		return n.Value
	}
	return quoted(n.Value)
}

var (
	// portable matches texts that every reader of YAML takes for themselves without quotes.
	portable = regexp.MustCompile(`^[\pL\pN_/.(]([\pL\pN_/.() ;'+-]*[\pL\pN_/.();'+-])?$`)
	// looksOther matches texts that are not strings in YAML 1.1, or that look like something else.
	looksOther = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null)$|^[-+.]?[0-9][0-9a-fA-FxXoO_.eE+-]*$|^[-+.]`)
)

// isPlain reports whether a text is written without quotes.
func isPlain(text string) bool { return portable.MatchString(text) && !looksOther.MatchString(text) }

// quoted returns a text in quotes: single ones if it contains double ones or backslashes, which would
// need escapes.
func quoted(text string) string {
	printable := !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
	if printable && strings.ContainsAny(text, `"\`) {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
