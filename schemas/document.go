package schemas

import (
	"cmp"
	"encoding/json"
	"strings"
)

// Document is a parsed JSON or YAML text with the position of each value.
type Document struct {
	text   json.RawMessage // as the author wrote it; nil if that is not JSON
	root   *element
	nodes  []Node // of a flow, decoded: see FlowParser
	source string // the text that the places are of; "" if it is not known
}

// JSON returns the document as JSON, members in the author's order.
func (d *Document) JSON() json.RawMessage {
	if d.text == nil {
		return d.root.appendJSON(nil)
	}
	return d.text
}

// Locate fills in the line and column of each problem that has none, from its path, and the lines
// of its trace, and returns the problems sorted by place. The position of a problem with a name (an
// unknown or duplicate member, see Problem.OnName) is that of the name. The position of a problem
// with a value is that of the value; a missing member has the position of its object.
func (d *Document) Locate(problems []Problem) []Problem {
	for i := range problems {
		if p := &problems[i]; p.Line == 0 {
			p.Line, p.Column = d.Place(*p)
		}
		problems[i].Trace.locate(d)
	}
	sortByPlace(problems)
	return problems
}

// Place returns the line and column of a problem from its path: see Locate.
func (d *Document) Place(p Problem) (line, column int) {
	at, _ := d.root.find(p.Path)
	// Rewording a problem keeps its message, but not the mark.
	onKey := p.onKey || strings.HasPrefix(p.Message, "unknown member ")
	if onKey && at.key != nil {
		return int(at.key.line), int(at.key.column)
	}
	found := at.value.place
	if p.Within > 0 && d.source != "" && at.value.shape == stringShape {
		found = placeWithin(d.source, found, at.value.text, p.Within-1)
	}
	return int(found.line), int(found.column)
}

// Decode checks the document against the schema and decodes it into a pointer to a Go value. The
// schema may be nil: then the document is compared only with the Go type. Members that the Go type
// lacks, in their exact spelling, are problems too. If there are problems, nothing is decoded; at
// most fifty are returned, the last with the number of the others.
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

// DecodeLoosely is like Decode, but also decodes the valid members of a document with problems, so
// that callers can check these further. It decodes a misspelled member as the member that was
// probably meant.
func (d *Document) DecodeLoosely(s *Schema, into any) []Problem {
	problems := d.Decode(s, into)
	if len(problems) == 0 || d.root.shape != objectShape {
		return problems
	}
	names := map[string]string{} // the member that was probably meant by an unknown one
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
		_ = json.Unmarshal(alone, into) // the problems contain the mismatch
	}
	return problems
}
