package findings

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/postern-id/postern/schemas"
)

// Text writes results for people.
type Text struct {
	// Color enables ANSI escape sequences.
	Colour bool
	// Waived writes the waived findings, and not only their number.
	Waived bool
}

// Styles, as SGR parameters (ECMA-48 §8.3.117).
const (
	bold   = "1"
	faint  = "2"
	red    = "1;31"
	yellow = "1;33"
	green  = "32"
)

// Write writes every finding with its line, below it those that follow from it, the proven guarantees of each valid flow, the number of
// its waived findings, and the number of files with findings.
func (t Text) Write(w io.Writer, list []File) error {
	out := &strings.Builder{}
	refused := 0
	var rules []string
	for i := range list {
		f := &list[i]
		lines := strings.Split(string(f.Text), "\n")
		shown, waived := t.split(f.Findings)
		for _, p := range shown {
			if root(p, shown) == nil {
				t.finding(out, f.Name, lines, p)
				t.consequences(out, consequences(p, shown))
			}
			if !slices.Contains(rules, p.Rule) {
				rules = append(rules, p.Rule)
			}
		}
		switch {
		case f.Refused():
			refused++
		case f.Application != "":
			fmt.Fprintf(out, "%s\t%s\t%s\n", t.paint(green, "ok"), printable(f.Name), printable(f.Application))
		case f.Scenarios > 0:
			fmt.Fprintf(out, "%s\t%s\t%s\n", t.paint(green, "ok"), printable(f.Name), count(f.Scenarios, "scenario"))
		default:
			fmt.Fprintf(out, "%s\t%s\t%s, %s; %s\n", t.paint(green, "ok"), printable(f.Name), printable(f.Handle), count(f.Nodes, "node"), f.Proven())
		}
		if waived > 0 {
			fmt.Fprintf(out, "\t%s\t%s\n", printable(f.Name), count(waived, "waived finding")+", which postern flow check --waived prints")
		}
	}
	if refused > 0 {
		fmt.Fprintf(out, "%d of %s findings\n", refused, filesChecked(len(list)))
	}
	if len(rules) > 0 {
		slices.Sort(rules)
		fmt.Fprintf(out, "for reasons and fixes: postern flow explain %s\n", strings.Join(rules, " "))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// split returns the findings to write, and the number of waived ones that are left out.
func (t Text) split(all []schemas.Problem) (shown []schemas.Problem, waived int) {
	if t.Waived {
		return all, 0
	}
	shown = slices.DeleteFunc(slices.Clone(all), func(p schemas.Problem) bool { return p.Waived })
	return shown, len(all) - len(shown)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func filesChecked(files int) string {
	if files == 1 {
		return "1 file has"
	}
	return fmt.Sprintf("%d files have", files)
}

// finding writes one finding: its position and message, the line, and a caret.
func (t Text) finding(out *strings.Builder, file string, lines []string, p schemas.Problem) {
	colour := red
	if p.Warning {
		colour = yellow
	}
	fmt.Fprintf(out, "%s: %s: %s %s\n",
		t.paint(bold, place(printable(file), p)), t.paint(colour, severity(p)), printable(p.Message), t.paint(faint, "["+p.Rule+"]"))
	if p.Line < 1 || p.Line > len(lines) {
		return
	}
	line, column := cutAround(strings.TrimRight(lines[p.Line-1], "\r"), p.Column)
	number := fmt.Sprintf("%*d", numberWidth, p.Line)
	bar := t.paint(faint, "|")
	fmt.Fprintf(out, "%s %s %s\n", t.paint(faint, number), bar, line)
	fmt.Fprintf(out, "%*s %s %s%s\n", len(number), "", bar, indent(line, column-1), t.paint(colour, "^"))
	t.trace(out, p.Trace)
}

// trace writes the run that breaks the rule, a line for each node: the position in the
// definition, the outcome, and the facts gained or lost.
func (t Text) trace(out *strings.Builder, trace schemas.Trace) {
	if len(trace) == 0 {
		return
	}
	ways, longest := make([]string, len(trace)), 0
	for i, step := range trace {
		if ways[i] = printable(step.Node); i < len(trace)-1 {
			ways[i] += " —" + printable(step.Outcome) + "→"
		}
		longest = max(longest, utf8.RuneCountInString(ways[i]))
	}
	fmt.Fprintf(out, "%*s %s a run that breaks this rule:\n", numberWidth, "", t.paint(faint, "|"))
	for i, step := range trace {
		number := strings.Repeat(" ", numberWidth)
		if step.Line > 0 {
			number = fmt.Sprintf("%*d", numberWidth, step.Line)
		}
		line := ways[i]
		if step.Note != "" {
			line += strings.Repeat(" ", longest-utf8.RuneCountInString(line)+2) + t.paint(faint, printable(step.Note))
		}
		fmt.Fprintf(out, "%s %s   %s\n", t.paint(faint, number), t.paint(faint, "|"), line)
	}
}

// consequences writes the findings that follow from another, a line for each.
func (t Text) consequences(out *strings.Builder, list []schemas.Problem) {
	if len(list) == 0 {
		return
	}
	bar := t.paint(faint, "|")
	fmt.Fprintf(out, "%*s %s it causes %s:\n", numberWidth, "", bar, count(len(list), "more finding"))
	for _, p := range list {
		number := strings.Repeat(" ", numberWidth)
		if p.Line > 0 {
			number = fmt.Sprintf("%*d", numberWidth, p.Line)
		}
		fmt.Fprintf(out, "%s %s   %s %s\n", t.paint(faint, number), bar, printable(shortened(p.Message)), t.paint(faint, "["+p.Rule+"]"))
	}
}

// shortened returns what is wrong, without reasons and remedies.
func shortened(message string) string {
	message, _, _ = strings.Cut(message, "; ")
	message, _, _ = strings.Cut(message, ", but not every path to it provides ")
	return message
}

// numberWidth is the width of line numbers.
const numberWidth = 5

// place returns file:line:column, as editors recognize it.
func place(file string, p schemas.Problem) string {
	if p.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Column)
}

func (t Text) paint(sgr, text string) string {
	if !t.Colour {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// printable makes untrusted text safe to print: it removes terminal control sequences.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// The maximum length of a displayed line in characters, and the part of it before the column of
// the finding.
const (
	longestLine = 160
	leadIn      = 80
)

// cutAround cuts a long line to the characters around the column (from 1), and returns the
// result with the column in it.
func cutAround(line string, column int) (string, int) {
	runes := []rune(printable(line))
	column = min(max(column, 1), len(runes)+1)
	if len(runes) <= longestLine {
		return string(runes), column
	}
	from := min(max(column-1-leadIn, 0), len(runes)-longestLine)
	part, before := string(runes[from:from+longestLine]), column-from
	if from > 0 {
		part, before = "…"+part, before+1
	}
	if from+longestLine < len(runes) {
		part += "…"
	}
	return part, before
}

// indent returns white space as wide as the first n characters of line on a terminal: none for
// combining marks, two columns for wide characters (Unicode Standard Annex 11), and tabs
// unchanged.
func indent(line string, n int) string {
	var b strings.Builder
	for _, r := range line {
		if n--; n < 0 {
			break
		}
		switch {
		case r == '\t':
			b.WriteByte('\t')
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case wide(r):
			b.WriteString("  ")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func wide(r rune) bool {
	k := width.LookupRune(r).Kind()
	return k == width.EastAsianWide || k == width.EastAsianFullwidth
}
