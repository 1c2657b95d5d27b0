// Package syntax parses YAML into a tree that knows where each value begins and ends in the text, and
// where the comments are. Formatting and the language server need this; package schemas knows only where
// values begin.
package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Kind is the kind of a node.
type Kind byte

// The kinds of nodes.
const (
	Scalar Kind = iota
	Mapping
	Sequence
)

// Style is how a scalar is written.
type Style byte

// The styles of scalars.
const (
	Plain  Style = iota
	Double       // in double quotes
	Single       // in single quotes
	Block        // a block scalar, | or >
)

// Span is a part of a text: the bytes from Start on, before End.
type Span struct{ Start, End int }

// Contains reports whether an offset is in the span or at its end.
func (s Span) Contains(offset int) bool { return s.Start <= offset && offset <= s.End }

// Node is a value. Its span does not include comments and line breaks after it.
type Node struct {
	Span
	Kind  Kind
	Style Style
	// Flow means that a mapping or sequence is written with brackets.
	Flow bool
	// Value is the text of a scalar, and Text reports whether it is a string: not a number, null, true or
	// false.
	Value string
	Text  bool
	// Key is, for the value of an entry of a mapping, its key.
	Key *Node
	// Entries are the values of a mapping, Items those of a sequence.
	Entries []*Node
	Items   []*Node
	// Dash is the offset of the dash of an item of a sequence without brackets.
	Dash int
}

// Tree is a parsed text.
type Tree struct {
	Text     []byte
	Root     *Node
	Comments []Comment

	lines  []int // the offset of each line
	opaque []Span
}

// Comment is a comment. Own means that nothing else is on its line.
type Comment struct {
	Span
	Own bool
}

var errUnreadable = errors.New("the text is not one YAML document")

// Parse parses a text with one document.
func Parse(text []byte) (t *Tree, err error) {
	defer func() {
		if p := recover(); p != nil { // the library panics on some odd placements of comments
			t, err = nil, fmt.Errorf("%w: %v", errUnreadable, p)
		}
	}()
	if !utf8.Valid(text) {
		return nil, errUnreadable
	}
	if text, err = withLineFeeds(text); err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&document); err != nil {
		return nil, err
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, errUnreadable
	}
	t = &Tree{Text: text, lines: lineStarts(text)}
	t.Root = t.node(document.Content[0], -1)
	t.findComments()
	return t, nil
}

// withLineFeeds returns a text of the same length whose lines end in line feeds, perhaps after a carriage
// return. Other characters that end a line for the YAML library (YAML 1.1 §5.4) would shift the positions of
// all that follows, and may be part of a value.
func withLineFeeds(text []byte) ([]byte, error) {
	if i := bytes.IndexAny(text, "\u0085\u2028\u2029"); i >= 0 {
		r, _ := utf8.DecodeRune(text[i:])
		return nil, fmt.Errorf("line %d contains the character %U, which ends a line in YAML 1.1; remove it, or write it as an escape in double quotes", 1+bytes.Count(text[:i], []byte("\n")), r)
	}
	ends := bytes.Clone(text)
	for i, c := range text {
		if c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			ends[i] = '\n'
		}
	}
	return ends, nil
}

func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, c := range text {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// offset returns the offset of a line and column, which count from 1, the column in characters.
func (t *Tree) offset(line, column int) int {
	if line < 1 || line > len(t.lines) {
		return len(t.Text)
	}
	at := t.lines[line-1]
	if line == 1 && bytes.HasPrefix(t.Text, []byte("\ufeff")) {
		at += len("\ufeff")
	}
	for ; column > 1 && at < len(t.Text) && t.Text[at] != '\n'; column-- {
		_, size := utf8.DecodeRune(t.Text[at:])
		at += size
	}
	return at
}

// Line returns the number of the line of an offset, from 0.
func (t *Tree) Line(offset int) int {
	i, found := slices.BinarySearch(t.lines, offset)
	if !found {
		i--
	}
	return i
}

// Column returns the number of bytes between the start of its line and an offset.
func (t *Tree) Column(offset int) int { return offset - t.lines[t.Line(offset)] }

// node converts a node of the library. Indent is the column of the member around it, -1 for none.
func (t *Tree) node(n *yaml.Node, indent int) *Node {
	at := t.offset(n.Line, n.Column)
	out := &Node{Span: Span{at, at}, Flow: n.Style&yaml.FlowStyle != 0}
	switch n.Kind {
	case yaml.MappingNode:
		out.Kind = Mapping
		t.entries(n, out)
	case yaml.SequenceNode:
		out.Kind = Sequence
		t.items(n, out)
	default:
		t.scalar(n, out, indent)
		return out
	}
	if out.Flow {
		out.End = t.closing(out)
	}
	return out
}

func (t *Tree) entries(n *yaml.Node, out *Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := t.node(n.Content[i], -1)
		value := t.node(n.Content[i+1], t.Column(key.Start))
		value.Key = key
		out.Entries = append(out.Entries, value)
		out.End = max(key.End, value.End)
	}
}

func (t *Tree) items(n *yaml.Node, out *Node) {
	column := t.Column(out.Start)
	for _, item := range n.Content {
		value := t.node(item, column)
		if !out.Flow {
			value.Dash = t.dash(out.End, value.Start)
		}
		out.Items = append(out.Items, value)
		out.End = max(out.End, value.End)
	}
}

// dash returns the offset of the last dash before an item, after the item before it.
func (t *Tree) dash(from, to int) int {
	found := from
	for i := from; i < to; i++ {
		switch t.Text[i] {
		case '#':
			if i > 0 && !isSpace(t.Text[i-1]) {
				continue
			}
			for i < to && t.Text[i] != '\n' {
				i++
			}
		case '-':
			found = i
		}
	}
	return found
}

// closing returns the end of a mapping or sequence with brackets, which follow its last part.
func (t *Tree) closing(n *Node) int {
	at := n.End
	if at == n.Start {
		at++
	}
	if c := t.Text[n.Start]; c != '{' && c != '[' {
		return n.End // a single member in a list: [a: b]
	}
	for ; at < len(t.Text); at++ {
		switch t.Text[at] {
		case '}', ']':
			return at + 1
		case '#':
			for at < len(t.Text) && t.Text[at] != '\n' {
				at++
			}
		}
	}
	return len(t.Text)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// At returns the nodes around an offset, outermost first. A key is part of its value here: the last node
// is the key or the value itself.
func (t *Tree) At(offset int) (path []*Node) {
	for n := t.Root; n != nil; {
		path = append(path, n)
		n = n.child(offset)
	}
	return path
}

func (n *Node) child(offset int) *Node {
	for _, e := range n.Entries {
		if e.Key.Contains(offset) || e.Contains(offset) {
			return e
		}
	}
	for _, item := range n.Items {
		if item.Contains(offset) {
			return item
		}
	}
	return nil
}

// Entry returns the value of a member, nil if there is none.
func (n *Node) Entry(name string) *Node {
	if n == nil {
		return nil
	}
	for _, e := range n.Entries {
		if e.Key.Value == name {
			return e
		}
	}
	return nil
}
