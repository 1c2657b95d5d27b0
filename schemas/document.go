package schemas

import (
	"cmp"
	"encoding/json"
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

func (d *Document) place(p Problem) (line, column int) {
	at, _ := d.root.find(p.Path)
	// Rewording a problem keeps its message, but not the mark.
	onKey := p.onKey || strings.HasPrefix(p.Message, "unknown member ")
	if onKey && at.key != nil {
		return int(at.key.line), int(at.key.column)
	}
	return int(at.value.line), int(at.value.column)
}

// Decode checks the document against the schema and decodes it into a pointer to a Go value. The
// schema may be nil: then the Go type is all that the document is compared with. Members that the
// Go type lacks, in their exact spelling, are problems too. If there are problems, nothing is
// decoded; at most fifty are returned, the last with the number of the others.
//
// A member that is null is absent. An item of a list may not be null.
func (d *Document) Decode(s *Schema, into any) []Problem {
	var found findings
	if s != nil {
		found = s.check(d.root)
	}
	if found.isEmpty() {
		found = decode(d, s, into)
	}
	return found.inPlace()
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
	names := map[string]string{} // what an unknown member is taken for
	for _, p := range problems {
		if m := d.root.member(p.Path); m != nil && p.onKey {
			names[p.Path] = p.meant
		}
	}
	for _, m := range d.root.members() {
		name, misspelled := names[m.name]
		if m.isNull() || misspelled && (name == "" || d.root.member(name) != nil) {
			continue
		}
		alone := appendString([]byte("{"), cmp.Or(name, m.name))
		alone = append(m.value.appendJSON(append(alone, ':')), '}')
		_ = json.Unmarshal(alone, into) // that something does not fit is among the problems
	}
	return problems
}
