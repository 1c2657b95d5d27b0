package schemas

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// ParseYAML reads exactly one YAML document that contains no more than JSON can. It rejects
// duplicate and non-string keys, anchors, aliases, merge keys and tags (so a text never means more
// than it shows, and an alias bomb costs nothing), numbers in notations that JSON lacks, and
// nesting over 100 levels. What looks like a time stays a string.
//
// The document is nil if there are problems; at most fifty are returned, the last with the number
// of the others. The caller limits the size of the text.
func ParseYAML(data []byte) (*Document, []Problem) {
	if at := invalidUTF8(data); at >= 0 {
		return nil, []Problem{problemAt(data, at, "the text is not valid UTF-8 here")}
	}
	node, problem := readYAML(bytes.TrimPrefix(data, []byte("\ufeff")))
	if problem != nil {
		return nil, []Problem{*problem}
	}
	r := yamlReader{}
	root := r.value(node)
	if !r.isEmpty() {
		return nil, r.listed()
	}
	return &Document{text: root.appendJSON(nil), root: root}, nil
}

// readYAML returns the content of the one document in data.
func readYAML(data []byte) (*yaml.Node, *Problem) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	first, err := decodeNode(decoder)
	if errors.Is(err, io.EOF) {
		return nil, &Problem{Message: "expected a document, the text is empty", Line: 1, Column: 1}
	}
	if err != nil {
		return nil, syntaxProblem(data, err)
	}
	second, err := decodeNode(decoder)
	if err == nil {
		return nil, &Problem{Message: "expected one document, another begins here; remove it and the --- before it",
			Line: second.Line, Column: second.Column}
	}
	if !errors.Is(err, io.EOF) {
		return nil, syntaxProblem(data, err)
	}
	return first.Content[0], nil
}

// errUnreadable stands for a text on which the YAML library panics, as it does
// on some odd placements of comments.
var errUnreadable = errors.New("yaml: the text cannot be read")

func decodeNode(decoder *yaml.Decoder) (node *yaml.Node, err error) {
	defer func() {
		if recover() != nil {
			err = errUnreadable
		}
	}()
	node = new(yaml.Node)
	if err := decoder.Decode(node); err != nil {
		return nil, err
	}
	if node.Kind != yaml.DocumentNode || len(node.Content) != 1 {
		return nil, errUnreadable
	}
	return node, nil
}

// yamlReader turns YAML nodes into elements and collects what is refused.
type yamlReader struct {
	findings
	at    valuePath // of the value being read
	depth int
}

// value converts a node; it returns an element also for what it refuses.
func (r *yamlReader) value(node *yaml.Node) *element {
	e := &element{shape: nullShape, text: "null", line: int32(node.Line), column: int32(node.Column)}
	switch {
	case node.Kind == yaml.AliasNode:
		r.refuseName(node, "aliases (*%s) are not used here; write the value out", node.Value)
	case node.Anchor != "":
		r.refuseName(node, "anchors (&%s) are not used here; remove it and write the value out where it is needed", node.Anchor)
	case node.Style&yaml.TaggedStyle != 0:
		r.refuseName(node, "tags (%s) are not used here; remove it, and put the value in quotes if it is meant as a string", node.Tag)
	case node.Kind == yaml.ScalarNode:
		r.scalar(node, e)
	case r.depth == maxDepth:
		r.refuse(node, fmt.Sprintf("nested deeper than %d levels", maxDepth))
	default:
		r.depth++
		r.collection(node, e)
		r.depth--
	}
	return e
}

func (r *yamlReader) collection(node *yaml.Node, e *element) {
	if node.Kind == yaml.SequenceNode {
		e.shape = arrayShape
		for i, item := range node.Content {
			r.at = r.at.item(i)
			e.addItem(r.value(item))
			r.at = r.at.up()
		}
		return
	}
	e.shape = objectShape
	for i := 0; i+1 < len(node.Content); i += 2 {
		r.member(node.Content[i], node.Content[i+1], e)
	}
}

func (r *yamlReader) member(key, value *yaml.Node, object *element) {
	switch {
	case key.Tag == "!!merge":
		r.refuse(key, "merge keys (<<) are not used here; write the members out")
		return
	case key.Kind != yaml.ScalarNode || key.Tag != "!!str" && key.Tag != "!!timestamp" || key.Style&yaml.TaggedStyle != 0 || key.Anchor != "":
		if r.acceptsMore() {
			r.addKept(r.problem(key, "expected a string as key, got "+keyWords(key)))
		}
		return
	case key.Value == "":
		if r.acceptsMore() {
			r.addKept(emptyName(r.at, int32(key.Line), int32(key.Column)))
		}
		return
	}
	r.at = r.at.member(key.Value)
	m := member{name: key.Value, line: int32(key.Line), column: int32(key.Column), value: r.value(value)}
	if !object.add(m) && r.acceptsMore() {
		r.addKept(repeatedMember(r.at, m, object.member(m.name)))
	}
	r.at = r.at.up()
}

// keyWords names a key that is not a string, and how to make it one.
func keyWords(key *yaml.Node) string {
	switch {
	case key.Kind == yaml.AliasNode:
		return "an alias"
	case key.Kind == yaml.SequenceNode:
		return "a list"
	case key.Kind == yaml.MappingNode:
		return "an object"
	case key.Anchor != "":
		return "an anchor"
	}
	return quote(key.Value) + " (" + shortenName(strings.TrimPrefix(key.Tag, "!!")) + "); put it in quotes"
}

func (r *yamlReader) scalar(node *yaml.Node, e *element) {
	e.text = node.Value
	switch {
	case node.Tag == "!!null":
		e.text = "null"
	case node.Tag == "!!bool":
		e.shape, e.text = booleanShape, strings.ToLower(node.Value)
	case node.Tag == "!!int", node.Tag == "!!float", node.Style == 0 && isNumber(node.Value):
		// The library takes a number out of range for a string.
		e.shape = numberShape
		if !isNumber(node.Value) {
			r.refuseName(node, "the number %q is not in plain decimal notation; write it so (12, -3.5), or put it in quotes if it is meant as a string", node.Value)
			return
		}
		if fault := numberFault(node.Value); fault != "" {
			r.refuse(node, fault)
		}
	default:
		e.shape = stringShape
	}
}

// refuse notes a problem at a node.
func (r *yamlReader) refuse(node *yaml.Node, message string) {
	if r.acceptsMore() {
		r.addKept(r.problem(node, message))
	}
}

// refuseName notes a problem about a name, which stands in the message for %s
// or %q, shortened.
func (r *yamlReader) refuseName(node *yaml.Node, format, name string) {
	if r.acceptsMore() {
		r.addKept(r.problem(node, fmt.Sprintf(format, shortenName(name))))
	}
}

func (r *yamlReader) problem(node *yaml.Node, message string) Problem {
	return Problem{Path: r.at.String(), Message: message, Line: node.Line, Column: node.Column}
}
