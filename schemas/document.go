package schemas

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Document is a parsed JSON or YAML text that knows where each value stands.
type Document struct {
	source []byte
	text   json.RawMessage
	root   *element
}

// JSON returns the document as JSON, members in the author's order.
func (d *Document) JSON() json.RawMessage { return d.text }

// Locate fills in the line and column of each problem that has none, from its
// path, and returns the problems sorted by place. A fault of a name (an unknown
// or doubled member, see Problem.OnName) stands at the name; one of a value at
// the value; one of a missing member at the object that misses it.
func (d *Document) Locate(problems []Problem) []Problem {
	for i := range problems {
		if p := &problems[i]; p.Line == 0 {
			p.Line, p.Column = d.place(*p)
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Path, b.Path))
	})
	return problems
}

func (d *Document) place(p Problem) (line, column int) {
	at := d.root.find(p.Path)
	// Who words a problem anew keeps its message, but loses the mark.
	onKey := p.onKey || strings.HasPrefix(p.Message, "unknown member ")
	if onKey && at.key != nil {
		return at.key.line, at.key.column
	}
	return at.value.line, at.value.column
}

// Line returns the nth line of the source, counted from 1, without its line
// end, to print above a caret. It is "" when there is no such line.
func (d *Document) Line(n int) string { return nthLine(d.source, n) }

// maxProblems is how many problems are told at most. Nobody mends more at a
// time, and a text of commas must not turn into a reply many times its size.
const maxProblems = 1000

// bounded cuts what is over maxProblems and says how many there were.
func bounded(problems []Problem) []Problem {
	if len(problems) <= maxProblems {
		return problems
	}
	more := len(problems) - maxProblems
	last := problems[maxProblems-1]
	last.Message += fmt.Sprintf(" (and %d more problems)", more)
	return append(problems[:maxProblems-1:maxProblems-1], last)
}

// Decode checks the document against the schema and decodes it into a pointer
// to a Go value. Members the Go type does not have are problems too. Nothing
// is decoded if there are problems.
func (d *Document) Decode(s *Schema, into any) []Problem {
	problems := s.check(d.root)
	if len(problems) == 0 {
		problems = decode(d.root, d.text, into)
	}
	return bounded(d.Locate(problems))
}
