package site

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// repository is where links to files that the site does not contain lead.
const repository = "https://github.com/postern-id/postern"

// group is a section of the navigation.
type group struct {
	Title string
	Pages []*page
}

// page is a page of the site.
type page struct {
	source  string // "docs/connect/go.md"
	path    string // on the site, without an extension: "connect/go"
	title   string // in the navigation
	summary string
	group   *group // nil for the entry page
	raw     string // the source
	text    string // the source with links that lead to the site
	tree    ast.Node
	anchors map[string]bool
	heads   []heading
	parts   []part
}

// heading is a section of a page.
type heading struct {
	Level  int
	Text   string
	Anchor string
}

// pathOf returns the path of the page of a source on the site, without an extension.
func pathOf(source string) string {
	name := strings.TrimSuffix(source, ".md")
	if below, found := strings.CutPrefix(name, "docs/"); found {
		return below
	}
	return "project/" + strings.ToLower(name)
}

// relative returns the link to a path of the site from a page in the folder dir.
func relative(dir, to string) string {
	if rel, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(to)); err == nil {
		return filepath.ToSlash(rel)
	}
	return to
}

// readIndex reads the groups and the pages of the navigation.
func (b *builder) readIndex() error {
	text, err := fs.ReadFile(b.root, index)
	if err != nil {
		return err
	}
	tree := parse(text)
	b.add(&page{source: index, title: plain(tree.FirstChild(), text)})
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				b.groups = append(b.groups, &group{Title: plain(n, text)})
			}
		case *ast.List:
			for item := n.FirstChild(); item != nil; item = item.NextSibling() {
				b.addItem(item, text)
			}
		}
	}
	return nil
}

// addItem adds the page of an item of a list. Items that link to a section of a page or to another
// file are no part of the navigation.
func (b *builder) addItem(item ast.Node, text []byte) {
	all := plain(item, text)
	link := firstLink(item)
	if link == nil || len(b.groups) == 0 {
		b.fail("%s: %q does not have the form - [title](page.md): summary", index, all)
		return
	}
	title := plain(link, text)
	summary, found := strings.CutPrefix(all, title+": ")
	if !found {
		b.fail("%s: %q has no summary; expected - [title](page.md): summary", index, title)
	}
	to := string(link.Destination)
	if path.Ext(to) != ".md" {
		return
	}
	last := b.groups[len(b.groups)-1]
	p := &page{source: path.Join("docs", to), title: title, summary: summary, group: last}
	if b.bySrc[p.source] != nil {
		b.fail("%s lists %s twice", index, p.source)
		return
	}
	last.Pages = append(last.Pages, p)
	b.add(p)
}

func (b *builder) add(p *page) {
	p.path = pathOf(p.source)
	b.pages = append(b.pages, p)
	b.bySrc[p.source] = p
}

// read reads and parses the source of a page.
func (b *builder) read(p *page) {
	text, err := fs.ReadFile(b.root, p.source)
	if err != nil {
		b.fail("%s lists %s: %w", index, p.source, err)
		return
	}
	p.raw = string(text)
	p.text = b.rewrite(p, path.Dir(p.path), "")
	p.tree = parse([]byte(p.text))
	p.outline()
}

// resolve returns where a link of a page leads: its path on the site, or its URL in the repository.
func (b *builder) resolve(p *page, to string) (string, error) {
	name := path.Join(path.Dir(p.source), to)
	if other := b.bySrc[name]; other != nil {
		return other.path + ".md", nil
	}
	info, err := fs.Stat(b.root, name)
	if err != nil {
		return "", fmt.Errorf("the link leads to %s, which does not exist", name)
	}
	if below, found := strings.CutPrefix(name, "docs/"); found && !info.IsDir() {
		content, err := fs.ReadFile(b.root, name)
		b.files[below] = content
		return below, err
	}
	if info.IsDir() {
		return repository + "/tree/main/" + name, nil
	}
	return repository + "/blob/main/" + name, nil
}
