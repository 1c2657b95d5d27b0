package site

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// parse parses Markdown as GitHub does, with tables and without raw HTML.
func parse(source []byte) ast.Node {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
}

// walk calls visit for a node and for all nodes below it, in their order.
func walk(n ast.Node, visit func(ast.Node)) {
	visit(n)
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		walk(child, visit)
	}
}

// plain returns the text below a node without markup. Blocks, cells and lines are separated by spaces.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	walk(n, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.WriteByte(' ')
			b.Write(n.Lines().Value(source))
		case *ast.Paragraph, *ast.TextBlock, *extast.TableCell:
			b.WriteByte(' ')
		}
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// firstLink returns the first link below a node; nil for none.
func firstLink(n ast.Node) (first *ast.Link) {
	walk(n, func(n ast.Node) {
		if link, ok := n.(*ast.Link); ok && first == nil {
			first = link
		}
	})
	return first
}

// anchorOf returns the anchor that GitHub gives to a heading: letters, digits, "-" and "_" of the
// text in lower case, with "-" for each space. A second heading with the same text has "-1" after it.
func anchorOf(heading string, taken map[string]bool) string {
	base := strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c):
			return unicode.ToLower(c)
		}
		return -1
	}, heading)
	anchor := base
	for i := 1; taken[anchor]; i++ {
		anchor = fmt.Sprintf("%s-%d", base, i)
	}
	return anchor
}

// part is a section of a page for the search: its heading below those of the sections around it, and
// its text up to the next heading.
type part struct {
	headings     []string
	anchor, text string
}

// outline gives anchors to the headings of a page, and collects its headings and its parts.
func (p *page) outline() {
	source := []byte(p.text)
	p.anchors = map[string]bool{}
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		h, isHeading := n.(*ast.Heading)
		if !isHeading {
			if len(p.parts) > 0 && !isDiagram(n, source) {
				last := &p.parts[len(p.parts)-1]
				last.text = strings.TrimSpace(last.text + " " + plain(n, source))
			}
			continue
		}
		title := plain(h, source)
		anchor := anchorOf(title, p.anchors)
		p.anchors[anchor] = true
		h.SetAttributeString("id", []byte(anchor))
		p.heads = append(p.heads, heading{h.Level, title, anchor})
		p.parts = append(p.parts, part{headings: p.headingsAbove(), anchor: anchor})
	}
}

// headingsAbove returns the last heading of a page and those of the sections around it, without the
// title of the page.
func (p *page) headingsAbove() []string {
	last := p.heads[len(p.heads)-1]
	path, level := []string{last.Text}, last.Level
	for _, h := range slices.Backward(p.heads) {
		if h.Level < level && h.Level > 1 {
			path, level = append(path, h.Text), h.Level
		}
	}
	slices.Reverse(path)
	return path
}

// isDiagram reports whether a block is a drawing in the language of Mermaid.
func isDiagram(n ast.Node, source []byte) bool {
	block, isCode := n.(*ast.FencedCodeBlock)
	return isCode && string(block.Language(source)) == "mermaid"
}
