package studio

import (
	"regexp"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Fix is a change of a text that a finding names without doubt.
type Fix struct {
	// Finding is the number of the finding in the result of the check, from 0.
	Finding int    `json:"finding"`
	Title   string `json:"title"`
	// The characters between Column and EndColumn of a line are replaced. Lines and columns count from
	// 1, and EndColumn is the first character that stays.
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndColumn int    `json:"endColumn"`
	Insert    string `json:"insert"`
}

var (
	suggestion     = regexp.MustCompile(`did you mean "([^"]+)"\?`)
	missingOutcome = regexp.MustCompile("^the outcome \"[^\"]+\" has no target; add `([^:`]+): <node id>`")
)

// Fixes returns the fixes of the findings about a text.
func (s *Studio) Fixes(source Source) ([]Fix, error) {
	fixes := []Fix{}
	for i, p := range s.check(source).result.Findings {
		if fix, ok := FixOf(source.Text, p); ok {
			fix.Finding = i
			fixes = append(fixes, fix)
		}
	}
	return fixes, nil
}

// FixOf returns the fix of a finding: the name that the author probably meant, another target in place of a
// wrong one, or a target for an outcome that has none.
func FixOf(text string, p schemas.Problem) (Fix, bool) {
	if p.Line < 1 {
		return Fix{}, false
	}
	line := lineOf(text, p.Line)
	if p.Cause != nil {
		return replaceWord(line, p, p.Cause.Instead[0])
	}
	if m := suggestion.FindStringSubmatch(p.Message); m != nil {
		return replaceWord(line, p, m[1])
	}
	m := missingOutcome.FindStringSubmatch(p.Message)
	if m == nil {
		return Fix{}, false
	}
	entry, at := m[1]+": "+schemas.End, p.Column-1
	runes := []rune(line)
	fix := Fix{Title: "Add " + entry, Line: p.Line, Column: at + 1, EndColumn: at + 1, Insert: entry + "\n" + strings.Repeat(" ", at)}
	if at < len(runes) && runes[at] == '{' {
		fix.Column, fix.EndColumn, fix.Insert = at+2, at+2, entry+", "
	}
	return fix, true
}

// replaceWord returns the fix that replaces the word at the position of a finding.
func replaceWord(line string, p schemas.Problem, word string) (Fix, bool) {
	start, end := wordAt(line, skipQuote(line, p.Column-1))
	if start == end || string([]rune(line)[start:end]) == word {
		return Fix{}, false
	}
	return Fix{Title: "Change to " + word, Line: p.Line, Column: start + 1, EndColumn: end + 1, Insert: word}, true
}

// skipQuote returns the column after a quote.
func skipQuote(line string, column int) int {
	if runes := []rune(line); column < len(runes) && (runes[column] == '"' || runes[column] == '\'') {
		return column + 1
	}
	return column
}
