package studio

import (
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// outline contains the known parts of an unfinished text, which may not be valid YAML yet: the path
// at the cursor, and the nodes.
type outline struct {
	path []string // the members above the place; "[]" for an item of a list, with its number in items
	item int      // the number of the node, -1 outside
	// inValue means that a value is being written, for the last member of path; otherwise the name of a
	// member.
	inValue bool
	word    string // what is written of it
	nodes   []outlineNode
	exits   []string // the outcomes of the sub-flow that the text is
}

// outlineNode is a node as far as it is written.
type outlineNode struct {
	id, use, flow string
	line          int // its first line, from 1
	document      *schemas.Document
}

// level is a member or item that a line is in: everything that is indented further.
type level struct {
	indent int
	name   string // "[]" for an item
	number int
}

var (
	memberStart = regexp.MustCompile(`^("?)([A-Za-z_][\w.-]*)"?\s*:(\s+|$)`)
	idMember    = regexp.MustCompile(`(?:^|[\s{,-])id:\s*"?([A-Za-z][\w-]*)`)
	useMember   = regexp.MustCompile(`(?:^|[\s{,-])use:\s*"?([a-z][\w-]*)`)
	flowMember  = regexp.MustCompile(`(?:^|[\s{,-])flow:\s*"?([\w-]+)`)
)

// outlineAt reads the text up to a place: a line from 1, and the number of characters before it in
// the line. What the text is parsed as is nil if it cannot be parsed.
func outlineAt(text string, parsed *schemas.Document, line, column int) outline {
	o := outline{item: -1}
	lines := strings.Split(text, "\n")
	line = min(max(line, 1), len(lines))
	var stack []level
	var rest string
	for i, one := range lines[:line] {
		if i == line-1 {
			runes := []rune(one)
			one = string(runes[:min(max(column, 0), len(runes))])
		} else if trimmed := strings.TrimSpace(one); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		stack, rest = enterLine(stack, one)
	}
	for _, l := range stack {
		o.path = append(o.path, l.name)
		if l.name == "[]" && len(o.path) == 2 && o.path[0] == "nodes" {
			o.item = l.number
		}
	}
	o.nodes, o.exits = outlineNodes(text, parsed), outlineExits(parsed)
	o.enterRest(rest)
	return o
}

// outlineExits returns the outcomes of a sub-flow that can be parsed.
func outlineExits(d *schemas.Document) []string {
	if d != nil && d.At("outcomes") != nil {
		return d.At("outcomes").Members()
	}
	return nil
}

// enterLine updates the levels for a line, and returns what follows its member names.
func enterLine(stack []level, line string) ([]level, string) {
	content := strings.TrimLeft(line, " ")
	indent := len(line) - len(content)
	for strings.HasPrefix(content, "- ") || content == "-" {
		last := -1
		for len(stack) > 0 && (stack[len(stack)-1].indent > indent || stack[len(stack)-1].indent == indent && stack[len(stack)-1].name == "[]") {
			last = stack[len(stack)-1].number
			isSame := stack[len(stack)-1].indent == indent
			stack = stack[:len(stack)-1]
			if isSame {
				break
			}
			last = -1
		}
		stack = append(stack, level{indent, "[]", last + 1})
		inner := strings.TrimLeft(content[1:], " ")
		indent += len(content) - len(inner)
		content = inner
	}
	for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
		stack = stack[:len(stack)-1]
	}
	if m := memberStart.FindStringSubmatch(content); m != nil {
		return append(stack, level{indent, m[2], 0}), "\x00" + content[len(m[0]):]
	}
	return stack, content
}

// enterRest follows the flow style ({a: b}) of a line up to the cursor. A rest that begins with NUL is
// the value of the last member.
func (o *outline) enterRest(rest string) {
	value, isValue := strings.CutPrefix(rest, "\x00")
	o.inValue, o.word = isValue, strings.TrimLeft(value, " ")
	if !strings.ContainsAny(o.word, "{[") {
		o.word = strings.Trim(o.word, `"' `)
		return
	}
	open, word := followFlowStyle(value)
	o.word = strings.Trim(strings.TrimSpace(word), `"'`)
	for _, step := range open {
		o.inValue = step != "{"
		switch step {
		case "{":
		case "[":
			o.path = append(o.path, "[]")
		default:
			o.path = append(o.path, step)
		}
	}
}

// followFlowStyle returns what is open at the end of a value in flow style, "{", "[" and the members
// between, and the word after that.
func followFlowStyle(value string) (open []string, word string) {
	start := 0
	for i := 0; i < len(value); i++ {
		switch c := value[i]; c {
		case '"', '\'':
			if end := strings.IndexByte(value[i+1:], c); end >= 0 {
				i += end + 1
			}
			continue
		case '{', '[':
			open = append(open, string(c))
		case '}', ']':
			open = closeMember(open)
			open = open[:max(0, len(open)-1)]
		case ':':
			open = append(open, strings.Trim(strings.TrimSpace(value[start:i]), `"'`))
		case ',':
			open = closeMember(open)
		default:
			continue
		}
		start = i + 1
	}
	return open, value[start:]
}

// closeMember removes the member whose value has ended.
func closeMember(open []string) []string {
	if n := len(open); n > 0 && open[n-1] != "{" && open[n-1] != "[" {
		return open[:n-1]
	}
	return open
}

// outlineNodes lists the nodes of a text. If it is not YAML, their ids and kinds are looked for in the
// lines.
func outlineNodes(text string, parsed *schemas.Document) (nodes []outlineNode) {
	nodes = parsedNodes(parsed)
	blocks := nodeBlocks(text)
	if len(blocks) != len(nodes) {
		nodes = make([]outlineNode, len(blocks))
	}
	for i, b := range blocks {
		nodes[i].line = b.line
		if nodes[i].document == nil {
			nodes[i].id, nodes[i].use, nodes[i].flow = group(idMember, b.text), group(useMember, b.text), group(flowMember, b.text)
		}
	}
	return nodes
}

// parsedNodes returns the nodes of a text that is parsed, without their lines; none if it could not be.
func parsedNodes(d *schemas.Document) (nodes []outlineNode) {
	if d == nil || d.At("nodes") == nil {
		return nil
	}
	items, _ := d.At("nodes").Items()
	for _, item := range items {
		nodes = append(nodes, outlineNode{id: item.TextAt("id"), use: item.TextAt("use"), flow: item.TextAt("with.flow"), document: item})
	}
	return nodes
}

func group(r *regexp.Regexp, text string) string {
	if m := r.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

type nodeBlock struct {
	text string
	line int
}

// nodeBlocks cuts the items of the list nodes out of a text in block style.
func nodeBlocks(text string) (blocks []nodeBlock) {
	within, indent := false, -1
	for i, line := range strings.Split(text, "\n") {
		content := strings.TrimLeft(line, " ")
		here := len(line) - len(content)
		switch {
		case strings.HasPrefix(line, "nodes:"):
			within = true
		case !within || strings.TrimSpace(content) == "" || content[0] == '#':
		case strings.HasPrefix(content, "- ") && (indent < 0 || here == indent):
			indent = here
			blocks = append(blocks, nodeBlock{line + "\n", i + 1})
		case here == 0:
			within = false
		case len(blocks) > 0:
			blocks[len(blocks)-1].text += line + "\n"
		}
	}
	return blocks
}

// node returns the node at the place, nil outside.
func (o *outline) node() *outlineNode {
	if o.item < 0 || o.item >= len(o.nodes) {
		return nil
	}
	return &o.nodes[o.item]
}

// at reports whether the path is the pattern, in which "*" is any member.
func (o *outline) at(pattern ...string) bool {
	return slices.EqualFunc(o.path, pattern, func(name, want string) bool { return want == "*" || name == want })
}

// ids lists the nodes' ids, without repetition.
func (o *outline) ids() (ids []string) {
	for _, n := range o.nodes {
		if n.id != "" && !slices.Contains(ids, n.id) {
			ids = append(ids, n.id)
		}
	}
	return ids
}
