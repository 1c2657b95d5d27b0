package schemas

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Document is a parsed JSON or YAML text that knows where each value stands.
type Document struct {
	text json.RawMessage
	root *element
}

// JSON returns the document as JSON, members in the author's order.
func (d *Document) JSON() json.RawMessage { return d.text }

// Locate fills in the line and column of each problem that has none, from its
// path, and the lines of its trace, and returns the problems sorted by place. A fault of a name (an unknown
// or doubled member, see Problem.OnName) stands at the name; one of a value at
// the value; one of a missing member at the object that misses it.
func (d *Document) Locate(problems []Problem) []Problem {
	for i := range problems {
		if p := &problems[i]; p.Line == 0 {
			p.Line, p.Column = d.place(*p)
		}
		problems[i].Trace.locate(d)
	}
	sortByPlace(problems)
	return problems
}

func sortByPlace(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Path, b.Path))
	})
}

func (d *Document) place(p Problem) (line, column int) {
	at := d.root.find(p.Path)
	// Rewording a problem keeps its message, but not the mark.
	onKey := p.onKey || strings.HasPrefix(p.Message, "unknown member ")
	if onKey && at.key != nil {
		return int(at.key.line), int(at.key.column)
	}
	return int(at.value.line), int(at.value.column)
}

// Decode checks the document against the schema and decodes it into a pointer to a Go value.
// Members that the Go type lacks are problems too. If there are problems, nothing is decoded; at
// most fifty are returned, the last with the number of the others.
func (d *Document) Decode(s *Schema, into any) []Problem {
	found := s.check(d.root)
	if found.isEmpty() {
		found = decode(d.root, d.text, into)
	}
	return found.inPlace().listed()
}

// DecodeLoosely is Decode for those who have more to check: what is wrong with
// some members does not keep the others from being decoded. A misspelled one is
// taken for the one it was probably meant to be, so that what depends on that can
// be checked too.
func (d *Document) DecodeLoosely(s *Schema, into any) []Problem {
	problems := d.Decode(s, into)
	if len(problems) == 0 || d.root.shape != objectShape {
		return problems
	}
	meant := map[string]string{} // misspelled name → name
	for _, p := range problems {
		if p.meant != "" && d.root.member(p.meant) == nil {
			meant[p.Path] = p.meant
		}
	}
	for _, m := range d.root.members() {
		name, err := json.Marshal(cmp.Or(meant[m.name], m.name))
		if err != nil {
			continue
		}
		alone := slices.Concat([]byte("{"), name, []byte(":"), m.value.appendJSON(nil), []byte("}"))
		_ = json.Unmarshal(alone, into) // that something does not fit is among the problems
	}
	return problems
}
