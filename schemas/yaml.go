package schemas

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// ParseYAML reads exactly one YAML document that contains no more than JSON can. It rejects
// duplicate and non-string keys, anchors, aliases, merge keys and tags (so a text has no hidden
// meaning, and an alias bomb costs nothing), numbers in notations that JSON lacks, and nesting over
// 100 levels. A value that looks like a time remains a string.
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
	return &Document{root: root, source: strings.TrimPrefix(string(data), "\ufeff")}, nil
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

// yamlReader converts YAML nodes to elements and collects the problems.
type yamlReader struct{ findings }

func placeOf(node *yaml.Node) place { return place{int32(node.Line), int32(node.Column)} }

// value converts a node. It returns an element even for a rejected node.
func (r *yamlReader) value(node *yaml.Node) *element {
	e := &element{place: placeOf(node), shape: nullShape, text: "null"}
	switch {
	case node.Kind == yaml.AliasNode:
		r.note(e.place, "aliases (*", shortenName(node.Value), ") are not supported; write the value out")
	case node.Anchor != "":
		r.note(e.place, "anchors (&", shortenName(node.Anchor), ") are not supported; remove it and write the value out where it is needed")
	case node.Style&yaml.TaggedStyle != 0:
		r.note(e.place, "tags (", shortenName(node.Tag), ") are not supported; remove it, and put the value in quotes if it is meant as a string")
	case node.Kind == yaml.ScalarNode:
		r.scalar(node, e)
	case len(r.at) == maxDepth:
		r.note(e.place, "nested deeper than ", strconv.Itoa(maxDepth), " levels")
	case node.Kind == yaml.SequenceNode:
		e.shape = arrayShape
		for i, item := range node.Content {
			r.at = r.at.item(i)
			e.addItem(r.value(item))
			r.at = r.at.up()
		}
	default:
		e.shape = objectShape
		for i := 0; i+1 < len(node.Content); i += 2 {
			r.member(node.Content[i], node.Content[i+1], e)
		}
	}
	return e
}

func (r *yamlReader) member(key, value *yaml.Node, object *element) {
	m := member{place: placeOf(key), name: key.Value}
	switch {
	case key.Tag == "!!merge":
		r.note(m.place, "merge keys (<<) are not supported; write the members out")
	case key.Kind != yaml.ScalarNode || key.Tag != "!!str" && key.Tag != "!!timestamp" || key.Style&yaml.TaggedStyle != 0 || key.Anchor != "":
		r.note(m.place, "expected a string as key, got ", keyWords(key))
	default:
		r.enterMember(m)
		m.value = r.value(value)
		r.leaveMember(object, m)
	}
}

// keyWords describes a key that is not a string, and how to make it one.
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
		// The library parses a number that is out of range as a string.
		e.shape = numberShape
		if !isNumber(node.Value) {
			r.note(e.place, "the number ", quote(node.Value),
				" is not in plain decimal notation; write it as 12 or -3.5, or put it in quotes if it is meant as a string")
		} else if fault := numberFault(node.Value); fault != "" {
			r.note(e.place, fault)
		}
	default:
		e.shape = stringShape
	}
}
