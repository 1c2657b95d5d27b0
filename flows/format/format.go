// Package format writes flow and scenario files in YAML in one form, as gofmt does for Go.
//
// The form: two spaces for each level, also for the items of a list; the members of a flow and of its
// nodes in the order of the schema; quotes only where a text needs them; at most one blank line in a row.
// A mapping or list with brackets keeps them if it is on one line, and gets a line for each part
// otherwise; the file itself and its list of nodes have a line for each part. Comments, groups of lines,
// and all other order stay as they are.
package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/postern-id/postern/flows/syntax"
	"github.com/postern-id/postern/schemas"
)

// errMeaning protects authors from errors of this package.
var errMeaning = errors.New("formatting would change the meaning or a comment; the file stays as it is. Write its values in a simpler notation")

// Format returns the text in the form of this package. Its meaning and its comments do not change. A
// text that is not YAML is an error with its position.
func Format(text []byte) ([]byte, error) {
	before, problems := schemas.ParseYAML(text)
	if len(problems) > 0 {
		return nil, errors.New(problems[0].String())
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	if tree.Root.Kind == syntax.Scalar {
		return nil, errors.New("1:1: expected an object, such as a flow")
	}
	p := &printer{tree: tree, order: orderOf(tree.Root)}
	p.collectAnchors(tree.Root, true)
	p.attach()
	p.document()
	out := p.out.Bytes()
	after, problems := schemas.ParseYAML(out)
	if len(problems) > 0 || !sameValue(before, after) || !sameComments(tree, out) {
		return nil, errMeaning
	}
	return out, nil
}

// sameValue compares documents without the order of members.
func sameValue(a, b *schemas.Document) bool {
	return reflect.DeepEqual(valueOf(a), valueOf(b))
}

func valueOf(d *schemas.Document) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(d.JSON()))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	return value
}

func sameComments(before *syntax.Tree, text []byte) bool {
	after, err := syntax.Parse(text)
	return err == nil && slices.Equal(commentsOf(before), commentsOf(after))
}

// commentsOf returns the texts of the comments, sorted: a comment moves with its member.
func commentsOf(t *syntax.Tree) (texts []string) {
	for _, c := range t.Comments {
		texts = append(texts, string(t.Text[c.Start:c.End]))
	}
	slices.Sort(texts)
	return texts
}

// order contains the order of members: of a flow, and of its nodes.
type order struct{ flow, node []string }

// orderOf returns the order of members in a text; none for a text that is not a flow.
func orderOf(root *syntax.Node) (o order) {
	if list := root.Entry("nodes"); list == nil || list.Kind != syntax.Sequence {
		return o
	}
	d, problems := schemas.ParseJSON(schemas.FlowSchema().Raw())
	if len(problems) > 0 {
		panic(fmt.Sprint("format: the schema of flows cannot be read: ", problems)) // it is part of the program
	}
	return order{d.At("properties").Members(), d.At("$defs.node.properties").Members()}
}

// sorted returns the entries in an order. Other members follow in their own order.
func sorted(entries []*syntax.Node, names []string) []*syntax.Node {
	rank := func(e *syntax.Node) int {
		if i := slices.Index(names, e.Key.Value); i >= 0 {
			return i
		}
		return len(names)
	}
	list := slices.Clone(entries)
	slices.SortStableFunc(list, func(a, b *syntax.Node) int { return rank(a) - rank(b) })
	return list
}

// isBroken reports whether a part of the text contains a line break.
func isBroken(t *syntax.Tree, s syntax.Span) bool {
	return bytes.IndexByte(t.Text[s.Start:s.End], '\n') >= 0
}

// onOneLine reports whether a value is written in brackets on one line. An empty one always is.
func (p *printer) onOneLine(n *syntax.Node) bool {
	if n.Kind == syntax.Scalar {
		return true
	}
	empty := len(n.Entries)+len(n.Items) == 0
	commented := slices.ContainsFunc(p.tree.Comments, func(c syntax.Comment) bool { return n.Start < c.Start && c.Start < n.End })
	return n.Flow && !commented && (empty || !isBroken(p.tree, n.Span))
}

// inBrackets writes a value on one line.
func inBrackets(b *strings.Builder, n *syntax.Node) {
	switch n.Kind {
	case syntax.Scalar:
		b.WriteString(scalarText(n))
	case syntax.Mapping:
		b.WriteByte('{')
		for i, e := range n.Entries {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(scalarText(e.Key))
			b.WriteString(": ")
			inBrackets(b, e)
		}
		b.WriteByte('}')
	default:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			inBrackets(b, item)
		}
		b.WriteByte(']')
	}
}
