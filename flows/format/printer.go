package format

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/postern-id/postern/flows/syntax"
)

// The printer knows for each line that it writes the anchor: the member or item that begins there in the
// text. Blank lines and comments on lines of their own come before the next anchor in the text, and a
// comment at the end of a line belongs to the last anchor before it. They move with their anchors.

// anchor is a member or an item that gets a line of its own.
type anchor struct {
	offset int
	gap    []gapLine
	ends   []string // the comments at the ends of its lines
}

// gapLine is a comment with its column in the text, or a blank line.
type gapLine struct {
	comment string
	column  int
}

// level is where an anchor is written: its column in the text and in the output.
type level struct{ source, column int }

type printer struct {
	tree    *syntax.Tree
	order   order
	anchors []*anchor
	after   []gapLine // what follows the last anchor
	hoisted []gapLine // from behind the dash that is written next
	chain   []level   // the last anchor that was written, and those around it
	out     bytes.Buffer
}

// collectAnchors lists the anchors of a value in the order of the text.
func (p *printer) collectAnchors(n *syntax.Node, block bool) {
	if !block && p.onOneLine(n) {
		return
	}
	for _, e := range n.Entries {
		p.anchors = append(p.anchors, &anchor{offset: e.Key.Start})
		p.collectAnchors(e, e.Key.Value == "nodes" && n == p.tree.Root && len(e.Items) > 0)
	}
	for _, item := range n.Items {
		p.anchors = append(p.anchors, &anchor{offset: itemStart(n, item)})
		p.collectAnchors(item, false)
	}
}

// itemStart returns where an item begins: at its dash, or just before the item if it has none. An item
// and its first member are different anchors.
func itemStart(list, item *syntax.Node) int {
	if list.Flow {
		return item.Start - 1
	}
	return item.Dash
}

func (p *printer) anchorAt(offset int) *anchor {
	i, found := slices.BinarySearchFunc(p.anchors, offset, func(a *anchor, offset int) int { return cmp.Compare(a.offset, offset) })
	if !found {
		return &anchor{offset: offset}
	}
	return p.anchors[i]
}

// attach gives the comments and blank lines of the text to anchors.
func (p *printer) attach() {
	before := func(offset int) int { // the number of anchors before an offset
		i, _ := slices.BinarySearchFunc(p.anchors, offset, func(a *anchor, offset int) int { return cmp.Compare(a.offset, offset) })
		return i
	}
	add := func(offset int, line gapLine) {
		gap := &p.after
		if i := before(offset); i < len(p.anchors) {
			gap = &p.anchors[i].gap
		}
		*gap = append(*gap, line)
	}
	comments := p.tree.Comments
	for line, start := 0, 0; start < len(p.tree.Text); line++ {
		end := len(p.tree.Text)
		if i := bytes.IndexByte(p.tree.Text[start:], '\n'); i >= 0 {
			end = start + i
		}
		content := bytes.TrimSpace(p.tree.Text[start:end])
		switch {
		case len(comments) > 0 && comments[0].Start < end+1 && comments[0].Start >= start:
			c := comments[0]
			comments = comments[1:]
			text := string(p.tree.Text[c.Start:c.End])
			if i := before(c.Start); !c.Own && i > 0 {
				p.anchors[i-1].ends = append(p.anchors[i-1].ends, text)
			} else {
				add(c.Start, gapLine{text, c.Start - start})
			}
		case len(content) == 0 && !p.isWithinScalar(start):
			add(start, gapLine{})
		}
		start = end + 1
	}
}

// isWithinScalar reports whether an offset is in a scalar of several lines.
func (p *printer) isWithinScalar(offset int) bool {
	path := p.tree.At(offset)
	if len(path) == 0 {
		return false
	}
	last := path[len(path)-1]
	return last.Kind == syntax.Scalar && last.Start < offset && offset < last.End
}

func (p *printer) document() {
	if len(p.anchors) > 0 { // the comment at the top stays there
		head := p.anchors[0].gap
		p.anchors[0].gap = nil
		p.writeGap(head, level{-1, 0})
	}
	p.block(p.tree.Root, 0, p.order.flow)
	for n := len(p.after); n > 0 && p.after[n-1].comment == ""; n-- {
		p.after = p.after[:n-1]
	}
	p.writeGap(p.after, level{-1, 0})
}

// block writes the members or items of a value on lines of their own.
func (p *printer) block(n *syntax.Node, column int, names []string) {
	depth := len(p.chain)
	for _, e := range sorted(n.Entries, names) {
		a := p.anchorAt(e.Key.Start)
		p.begin(a, depth, column)
		p.out.WriteString(scalarText(e.Key) + ":")
		p.value(e, a, column+2, e.Key.Value == "nodes" && n == p.tree.Root)
	}
	for _, item := range n.Items {
		a := p.anchorAt(itemStart(n, item))
		names := []string(nil)
		if n.Key != nil && p.tree.Root.Entry("nodes") == n {
			names = p.order.node
		}
		if !p.continues() {
			p.hoist(item, a, names)
		}
		p.begin(a, depth, column)
		p.out.WriteString("-")
		p.item(item, a, column, names)
	}
}

// hoist collects the comments between a dash and what follows it: they are written before the dash.
func (p *printer) hoist(item *syntax.Node, dash *anchor, names []string) {
	if item.Kind == syntax.Scalar || p.onOneLine(item) {
		return
	}
	take := func(a *anchor, keep int) {
		for len(a.ends) > keep {
			p.hoisted = append(p.hoisted, gapLine{a.ends[0], p.tree.Column(dash.offset)})
			a.ends = a.ends[1:]
		}
	}
	take(dash, 0)
	var first *anchor
	if item.Kind == syntax.Mapping {
		first = p.anchorAt(sorted(item.Entries, names)[0].Key.Start)
	} else {
		first = p.anchorAt(itemStart(item, item.Items[0]))
	}
	for _, line := range first.gap {
		line.column = min(line.column, p.tree.Column(dash.offset))
		p.hoisted = append(p.hoisted, line)
	}
	first.gap = nil
	take(first, 1)
	if item.Kind == syntax.Sequence {
		p.hoist(item.Items[0], first, nil)
	}
}

// continues reports whether the next anchor follows a dash on its line.
func (p *printer) continues() bool { return bytes.HasSuffix(p.out.Bytes(), []byte("- ")) }

// begin starts the line of an anchor, after its comments. An anchor that follows a dash continues the
// line.
func (p *printer) begin(a *anchor, depth, column int) {
	at := level{p.tree.Column(a.offset), column}
	if !p.continues() {
		gap := append(a.gap, p.hoisted...)
		if len(a.ends) > 1 { // only one fits on the line
			for _, text := range a.ends[:len(a.ends)-1] {
				gap = append(gap, gapLine{text, at.source})
			}
		}
		p.hoisted = nil
		p.writeGap(gap, at)
		p.out.WriteString(strings.Repeat(" ", column))
	}
	p.chain = append(p.chain[:min(depth, len(p.chain))], at)
}

// writeGap writes comments and blank lines before the anchor at a level. A comment that is indented
// further belongs to what is before it.
func (p *printer) writeGap(gap []gapLine, next level) {
	for _, line := range gap {
		if line.comment == "" {
			if n := p.out.Len(); n > 0 && !bytes.HasSuffix(p.out.Bytes(), []byte("\n\n")) {
				p.out.WriteByte('\n')
			}
			continue
		}
		column := next.column
		if line.column > next.source {
			inner := level{source: -1}
			for _, l := range p.chain {
				if inner.source < l.source && l.source <= line.column {
					inner = l
				}
			}
			column = max(column, inner.column)
		}
		p.out.WriteString(strings.Repeat(" ", column) + line.comment + "\n")
	}
}

// end ends a line, with the comment of its anchor.
func (p *printer) end(a *anchor) {
	if n := len(a.ends); n > 0 {
		p.out.WriteString(" " + a.ends[n-1])
		a.ends = nil
	}
	p.out.WriteByte('\n')
}

// value writes the value of a member after its colon. Its parts are written at a column.
func (p *printer) value(n *syntax.Node, a *anchor, column int, nodes bool) {
	switch {
	case n.Kind == syntax.Scalar:
		p.scalar(n, a, column)
	case p.onOneLine(n) && !(nodes && len(n.Items) > 0):
		p.out.WriteByte(' ')
		p.brackets(n)
		p.end(a)
	default:
		p.end(a)
		p.block(n, column, nil)
	}
}

// item writes an item after its dash.
func (p *printer) item(n *syntax.Node, a *anchor, column int, names []string) {
	switch {
	case n.Kind == syntax.Scalar:
		p.scalar(n, a, column+2)
	case p.onOneLine(n):
		p.out.WriteByte(' ')
		p.brackets(n)
		p.end(a)
	default:
		p.out.WriteByte(' ')
		p.block(n, column+2, names)
	}
}

func (p *printer) brackets(n *syntax.Node) {
	var b strings.Builder
	inBrackets(&b, n)
	p.out.WriteString(b.String())
}

// scalar writes a scalar. One of several lines keeps its lines.
func (p *printer) scalar(n *syntax.Node, a *anchor, column int) {
	lines := strings.Split(string(p.tree.Text[n.Start:n.End]), "\n")
	switch {
	case n.Style == syntax.Block:
		p.blockScalar(n, lines, a, column)
		return
	case n.Value == "" && n.Start == n.End:
	case len(lines) == 1:
		p.out.WriteString(" " + scalarText(n))
	default:
		p.out.WriteString(" " + strings.TrimRight(lines[0], "\r"))
		for _, line := range lines[1:] {
			p.out.WriteByte('\n')
			if line = strings.Trim(line, " \t\r"); line != "" {
				p.out.WriteString(strings.Repeat(" ", column) + line)
			}
		}
	}
	p.end(a)
}

// blockScalar writes the lines of a block scalar at a column.
func (p *printer) blockScalar(n *syntax.Node, lines []string, a *anchor, column int) {
	header, _, _ := strings.Cut(strings.TrimRight(lines[0], "\r"), "#")
	header = strings.TrimSpace(header)
	depth := -1
	if i := strings.IndexAny(header, "123456789"); i >= 0 { // the number of spaces before the content
		depth = p.tree.Column(a.offset) + int(header[i]-'0')
		header = header[:i] + "2" + header[i+1:]
	}
	if n.End == len(p.tree.Text) && lines[len(lines)-1] != "" { // its last line has no end
		header = strings.TrimRight(header, "+-") + "-"
	}
	p.out.WriteString(" " + header)
	p.end(a)
	for _, line := range lines[1:] {
		line = strings.TrimRight(line, "\r")
		if content := strings.TrimLeft(line, " "); depth < 0 && content != "" {
			depth = len(line) - len(content)
		}
		if len(line) <= depth || depth < 0 {
			p.out.WriteByte('\n')
			continue
		}
		p.out.WriteString(strings.Repeat(" ", column) + line[depth:] + "\n")
	}
}
