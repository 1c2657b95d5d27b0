package rules

import (
	"fmt"
	"strings"
)

// Page returns docs/rules.md: every rule with its examples, as Markdown.
func Page() string {
	var b strings.Builder
	b.WriteString("# The rules of flows\n\n" +
		"<!-- Written by `go generate ./flows/rules`; the text stands in flows/rules. -->\n\n" +
		"A flow may run once it breaks none of these rules. `postern flow check` finds what does,\n" +
		"and so do the API, the tools and the start of the server, by the same code. Each finding names\n" +
		"its rule in brackets; `postern flow explain RULE` prints what stands here.\n\n" +
		"| rule | finds |\n|---|---|\n")
	for _, r := range All() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", r.ID, r.ID, r.Title)
	}
	for _, r := range All() {
		b.WriteString("\n" + r.Markdown())
	}
	return b.String()
}

// Markdown returns the section about the rule.
func (r Rule) Markdown() string {
	return fmt.Sprintf("## %s\n\n*%s*\n\n%s\n\n%s\n\nBad:\n\n```yaml\n%s```\n\nGood:\n\n```yaml\n%s```\n",
		r.ID, upper(r.Title), r.Why, r.Fix, r.Bad, r.Good)
}

// Text returns the rule for a terminal of the given width.
func (r Rule) Text(width int) string {
	return fmt.Sprintf("%s: %s\n\n%s\n\n%s\n\nBad:\n\n%s\nGood:\n\n%s",
		r.ID, r.Title, wrap(r.Why, width), wrap(r.Fix, width), indent(r.Bad), indent(r.Good))
}

func upper(s string) string {
	if strings.HasPrefix(s, "`") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// wrap breaks a paragraph into lines.
func wrap(text string, width int) string {
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(text) {
		n := len([]rune(word))
		switch {
		case at == 0:
		case at+1+n > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
}
