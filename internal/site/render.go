package site

import (
	"bytes"
	"fmt"
	"html"
	"image"
	_ "image/png" // the sizes of screenshots
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// pageRenderer renders the blocks of a page that differ from plain HTML: headings with a link to
// themselves, code with colors, tables that scroll, and images with their sizes.
type pageRenderer struct {
	b        *builder
	p        *page
	anchor   string // of the last heading
	diagrams int
}

// RegisterFuncs registers the renderers of blocks.
func (r *pageRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindHeading, r.heading)
	reg.Register(ast.KindFencedCodeBlock, r.code)
	reg.Register(ast.KindImage, r.image)
	reg.Register(extast.KindTable, r.table)
	reg.Register(ast.KindHTMLBlock, r.comment)
}

// render returns the HTML of the Markdown of a page.
func (b *builder) render(p *page) (string, error) {
	own := &pageRenderer{b: b, p: p}
	var out bytes.Buffer
	err := renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(own, 1),
		util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), 500),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
		util.Prioritized(extension.NewTaskCheckBoxHTMLRenderer(), 500),
		util.Prioritized(goldhtml.NewRenderer(), 1000),
	)).Render(&out, []byte(p.text), p.tree)
	return out.String(), err
}

func (r *pageRenderer) heading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	if entering {
		id, _ := h.AttributeString("id")
		r.anchor = string(id.([]byte))
		fmt.Fprintf(w, `<h%d id="%s">`, h.Level, html.EscapeString(r.anchor))
		return ast.WalkContinue, nil
	}
	if h.Level > 1 {
		fmt.Fprintf(w, ` <a class="anchor" href="#%s" aria-label="Link to the section %s">#</a>`, html.EscapeString(r.anchor), html.EscapeString(plain(h, source)))
	}
	fmt.Fprintf(w, "</h%d>\n", h.Level)
	return ast.WalkContinue, nil
}

// comment omits comments, the only HTML that pages may contain.
func (r *pageRenderer) comment(_ util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if text := strings.TrimSpace(string(n.Lines().Value(source))); entering && !strings.HasPrefix(text, "<!--") {
		return ast.WalkStop, fmt.Errorf("%q is HTML; use Markdown", text)
	}
	return ast.WalkSkipChildren, nil
}

// table puts a table into a group that scrolls, and that the keyboard can reach.
func (r *pageRenderer) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, err := w.WriteString(`<div class="table" role="group" aria-label="Table" tabindex="0"><table>` + "\n")
		return ast.WalkContinue, err
	}
	_, err := w.WriteString("</table></div>\n")
	return ast.WalkContinue, err
}

func (r *pageRenderer) image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	to := string(n.(*ast.Image).Destination)
	size := ""
	if config, _, err := image.DecodeConfig(bytes.NewReader(r.b.files[path.Join(path.Dir(r.p.path), to)])); err == nil {
		size = fmt.Sprintf(` width="%d" height="%d"`, config.Width, config.Height)
	}
	fmt.Fprintf(w, `<img src="%s" alt="%s"%s loading="lazy">`, html.EscapeString(to), html.EscapeString(plain(n, source)), size)
	return ast.WalkSkipChildren, nil
}

func (r *pageRenderer) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	block := n.(*ast.FencedCodeBlock)
	if isDiagram(n, source) {
		svg, err := r.b.diagram(r.p.source, r.anchor)
		if err != nil {
			return ast.WalkStop, err
		}
		if svg != "" {
			return ast.WalkSkipChildren, r.drawing(w, svg)
		}
	}
	text, err := colored(string(block.Language(source)), string(block.Lines().Value(source)))
	fmt.Fprintf(w, `<div class="code"><pre tabindex="0"><code>%s</code></pre></div>`+"\n", text)
	return ast.WalkSkipChildren, err
}

// drawing writes the drawing of a flow, as a file, and an image of it.
func (r *pageRenderer) drawing(w util.BufWriter, svg string) error {
	r.diagrams++
	name := fmt.Sprintf("%s-%d.svg", path.Base(r.p.path), r.diagrams)
	r.b.files[path.Join(path.Dir(r.p.path), name)] = []byte(svg)
	_, err := fmt.Fprintf(w, `<p><a class="drawing" href="%s"><img src="%[1]s" alt="The graph of the flow %s" loading="lazy"></a></p>`+"\n", name, html.EscapeString(r.anchor))
	return err
}
