package schemas

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// FlowParser parses the successive texts of a flow in an editor. Each text is nearly the same as the
// one before, so it parses only the nodes that have changed. It is not safe for concurrent use.
//
// A node is parsed by itself if the text has the list of nodes in block style. If a part of the text is
// not valid YAML by itself, for example because a quote is not closed, the whole text is parsed.
type FlowParser struct {
	nodes map[string]parsedNode // those of the last text, by their own texts
}

// parsedNode is the value of a node, and the line of the dash before it.
type parsedNode struct {
	value *element
	line  int
	node  *Node // nil if the value has problems
}

// ParseYAML is the function ParseYAML for the text of a flow.
func (p *FlowParser) ParseYAML(text []byte) (*Document, []Problem) {
	if invalidUTF8(text) < 0 {
		if d := p.parseInParts(string(text)); d != nil {
			return d, nil
		}
	}
	return ParseYAML(text)
}

// parseInParts returns nil if the text cannot be parsed in parts.
func (p *FlowParser) parseInParts(text string) *Document {
	parts := splitNodes(text)
	if len(parts.nodes) == 0 {
		return nil
	}
	root := parseBlock(parts.frame, yaml.MappingNode, nil)
	if root == nil || root.member(nodesMember) == nil {
		return nil
	}
	list := root.member(nodesMember).value
	list.place = place{int32(parts.nodes[0].line), int32(parts.indent + 1)}
	d := &Document{root: root, source: text, nodes: make([]Node, 0, len(parts.nodes))}
	nodes := make(map[string]parsedNode, len(parts.nodes))
	for _, n := range parts.nodes {
		known, found := p.nodes[n.text]
		if !found {
			items := parseBlock(n.text, yaml.SequenceNode, valuePath{}.member(nodesMember))
			if items == nil || len(items.items) != 1 {
				return nil
			}
			known = parsedNode{items.items[0], 1, readNode(items.items[0])}
		}
		known = parsedNode{known.value.movedBy(n.line - known.line), n.line, known.node}
		nodes[n.text] = known
		list.addItem(known.value)
		if known.node != nil {
			d.nodes = append(d.nodes, *known.node)
		}
	}
	p.nodes = nodes
	if nodes := FlowSchema().compiled().Properties[nodesMember]; len(d.nodes) < len(list.items) || len(list.items) > nodes.MaxItems {
		d.nodes = nil
	}
	return d
}

// readNode decodes a node. It returns nil if the node has problems.
func readNode(value *element) *Node {
	node := new(Node)
	if FlowSchema().compiled().Properties[nodesMember].Items2020.Validate(value.plain()) != nil {
		return nil
	}
	if found := decode(part(value), nil, node); !found.isEmpty() {
		return nil
	}
	return node
}

// frame returns a flow with the first of its nodes only. If all nodes are valid, the two have the same
// problems: the schema limits nothing but each node and their number.
func (d *Document) frame() *Document {
	first := *d.root.member(nodesMember).value
	first.items = first.items[:1]
	frame := d.root.copiedMembers()
	frame.member(nodesMember).value = &first
	return part(frame)
}

// parseBlock parses a mapping or a sequence in block style, which is at a path. It returns nil if the
// text is not that.
func parseBlock(text string, kind yaml.Kind, at valuePath) *element {
	node, problem := readYAML([]byte(text))
	if problem != nil || node.Kind != kind || node.Style&yaml.FlowStyle != 0 {
		return nil
	}
	r := yamlReader{findings{at: at}}
	value := r.value(node)
	if !r.isEmpty() {
		return nil
	}
	return value
}

// movedBy returns the value for a text with more lines before it.
func (e *element) movedBy(lines int) *element {
	if lines == 0 {
		return e
	}
	c := e.copied(func(member) bool { return true })
	c.shift(int32(lines))
	return c
}

func (e *element) shift(lines int32) {
	e.line += lines
	for _, item := range e.items {
		item.shift(lines)
	}
	for i := range e.members() {
		m := &e.object.members[i]
		m.line += lines
		m.value.shift(lines)
	}
}

// flowParts are the parts of the text of a flow.
type flowParts struct {
	frame  string // the text with an empty list and empty lines in place of the nodes
	indent int    // of the dashes
	nodes  []nodeText
}

// nodeText is the text of a node, from the line of its dash to that of the next one.
type nodeText struct {
	text string
	line int // from 1
}

const nodesMember = "nodes"

// hasOtherBreaks reports whether a text has line breaks of YAML 1.1 besides the line feed.
// strings.ContainsAny would look at each character.
func hasOtherBreaks(text string) bool {
	return slices.ContainsFunc([]string{"\r", "\u0085", "\u2028", "\u2029"}, func(end string) bool { return strings.Contains(text, end) })
}

// splitNodes cuts a text into its parts. It returns no nodes if the text has no list of nodes in block
// style.
func splitNodes(text string) flowParts {
	head, rest, found := cutLine(text, nodesMember+":")
	if !found || hasOtherBreaks(text) {
		return flowParts{}
	}
	first := strings.Count(head, "\n") + 2
	parts := flowParts{indent: -1}
	begin, beginLine, line, at := 0, 0, first, 0
	end := func() {
		if beginLine > 0 {
			parts.nodes = append(parts.nodes, nodeText{rest[begin:at], beginLine})
		}
		begin, beginLine = at, line
	}
	for at < len(rest) {
		next := len(rest)
		if i := strings.IndexByte(rest[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		content := strings.TrimLeft(rest[at:next], " ")
		indent := next - at - len(content)
		isItem := strings.HasPrefix(content, "- ") || content == "-\n" || content == "-"
		if isItem && parts.indent < 0 {
			parts.indent = indent
		}
		switch {
		case content == "" || content[0] == '\n' || content[0] == '#' || indent > parts.indent && parts.indent >= 0:
		case isItem && indent == parts.indent:
			end()
		case indent == 0 && !isItem && parts.indent >= 0: // the next member of the flow
			end()
			parts.frame = head + nodesMember + ": []" + strings.Repeat("\n", line-first+1) + rest[at:]
			return parts
		default:
			return flowParts{}
		}
		at, line = next, line+1
	}
	end()
	parts.frame = head + nodesMember + ": []\n"
	return parts
}

// cutLine cuts a text around the first line that is the given one, with spaces after it or without.
func cutLine(text, line string) (before, after string, found bool) {
	for at := 0; at < len(text); {
		next := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		if strings.TrimRight(text[at:next], " \n") == line {
			return text[:at], text[next:], true
		}
		at = next
	}
	return "", "", false
}
