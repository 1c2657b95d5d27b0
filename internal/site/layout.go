package site

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"path"
	"strings"

	"github.com/postern-id/postern/internal/design"
)

//go:embed web
var web embed.FS

var layout = template.Must(template.ParseFS(web, "web/page.html"))

// shown is what the layout shows of a page.
type shown struct {
	Title    string
	Summary  string
	Root     string // the way to the root of the site: "" or "../"
	Markdown string // the page of Markdown; empty for the search
	Body     template.HTML
	Heads    []heading
	Groups   []shownGroup
	Group    string
	Previous *link
	Next     *link
	IsSearch bool
}

type shownGroup struct {
	Title string
	Open  bool
	Links []link
}

type link struct {
	Title, To string
	Current   bool
}

// manyHeadings is the number of sections from which a page has contents.
const manyHeadings = 3

// html returns the page of HTML with the number i.
func (b *builder) html(i int) ([]byte, error) {
	p := b.pages[i]
	body, err := b.render(p)
	if err != nil {
		return nil, err
	}
	s := shown{Title: p.title, Summary: p.summary, Markdown: path.Base(p.path) + ".md", Body: template.HTML(body), Heads: p.contents()}
	if p.group != nil {
		s.Group = p.group.Title
	}
	dir := path.Dir(p.path)
	if i > 0 {
		s.Previous = &link{Title: b.pages[i-1].title, To: relative(dir, b.pages[i-1].path+".html")}
	}
	if i+1 < len(b.pages) {
		s.Next = &link{Title: b.pages[i+1].title, To: relative(dir, b.pages[i+1].path+".html")}
	}
	return b.layOut(s, p.path)
}

// layOut renders a page at a path of the site.
func (b *builder) layOut(s shown, at string) ([]byte, error) {
	dir := path.Dir(at)
	s.Root = strings.Repeat("../", strings.Count(at, "/"))
	for _, g := range b.groups {
		group := shownGroup{Title: g.Title}
		for _, p := range g.Pages {
			current := p.path == at
			group.Open = group.Open || current
			group.Links = append(group.Links, link{Title: p.title, To: relative(dir, p.path+".html"), Current: current})
		}
		s.Groups = append(s.Groups, group)
	}
	var out bytes.Buffer
	err := layout.Execute(&out, s)
	return out.Bytes(), err
}

// contents returns the sections of a page for its contents; none for a short page. Sections of the
// third level are left out where there are many.
func (p *page) contents() []heading {
	var second, all []heading
	for _, h := range p.heads {
		if h.Level == 2 {
			second = append(second, h)
		}
		if h.Level == 2 || h.Level == 3 {
			all = append(all, h)
		}
	}
	switch {
	case p.group == nil || len(all) < manyHeadings:
		return nil
	case len(all) > 40:
		return second
	}
	return all
}

// writeShared adds the search, the style and the scripts.
func (b *builder) writeShared() error {
	search, err := b.layOut(shown{Title: "Search", IsSearch: true}, "search")
	if err != nil {
		return err
	}
	b.files["search.html"] = search
	if b.files["search-index.js"], err = b.searchIndex(); err != nil {
		return err
	}
	for _, name := range []string{"site.css", "site.js", "search.js"} {
		if b.files[name], err = web.ReadFile("web/" + name); err != nil {
			return err
		}
	}
	b.files["site.css"] = append([]byte(design.Compatible()), b.files["site.css"]...)
	b.files["icon.svg"] = []byte(design.Favicon())
	return nil
}

// searchIndex returns the sections of all pages as a script, which pages in a file system can load:
// searchIndex is a list of pages [title, path, group, [[headings, anchor, text], …]].
func (b *builder) searchIndex() ([]byte, error) {
	var list [][]any
	for _, p := range b.pages {
		group := ""
		if p.group != nil {
			group = p.group.Title
		}
		var parts [][]any
		for _, s := range p.parts {
			parts = append(parts, []any{s.headings, s.anchor, s.text})
		}
		list = append(list, []any{p.title, p.path + ".html", group, parts})
	}
	text, err := json.Marshal(list)
	return append(append([]byte("const searchIndex = "), text...), ";\n"...), err
}
