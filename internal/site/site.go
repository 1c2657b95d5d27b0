// Package site renders the documentation as a static website: a page of HTML and a page of Markdown
// for each source, a search that needs no server, and llms.txt for programs that read the pages.
//
// docs/index.md is the entry page, the navigation and llms.txt at once: each of its sections is a
// group of pages, and each item of its lists has the form "[title](page.md): summary". The path of a
// page on the site is its path below docs/. Pages from outside of docs/ are below project/.
//
// All links are relative, so that the site works below any path and from the file system. Pages have
// a Content-Security-Policy without inline scripts and styles.
package site

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// index is the source of the entry page.
const index = "docs/index.md"

// Diagram returns the drawing, as SVG, of the flow that a Mermaid block of a page shows, by its source
// and the anchor of the heading above the block. If it returns "", the page shows the block as text.
type Diagram func(source, anchor string) (svg string, err error)

// Files are the files of a site by their paths.
type Files map[string][]byte

// Write writes the files below a folder.
func (f Files) Write(dir string) error {
	for name, content := range f {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// builder is a site that is being built.
type builder struct {
	root    fs.FS
	diagram Diagram
	groups  []*group
	pages   []*page // in the order of the navigation, with the entry page first
	bySrc   map[string]*page
	files   Files
	faults  []error
}

func (b *builder) fail(format string, args ...any) {
	b.faults = append(b.faults, fmt.Errorf(format, args...))
}

// Build returns the site of the repository at root. Its error lists every page of docs/ that
// docs/index.md lacks, and every link, anchor and image that leads nowhere.
func Build(root fs.FS, diagram Diagram) (Files, error) {
	b := &builder{root: root, diagram: diagram, bySrc: map[string]*page{}, files: Files{}}
	if err := b.readIndex(); err != nil {
		return nil, err
	}
	b.checkListed()
	for _, p := range b.pages {
		b.read(p)
	}
	for _, p := range b.pages {
		b.checkLinks(p)
	}
	if len(b.faults) > 0 {
		return nil, errors.Join(b.faults...)
	}
	if err := b.write(); err != nil {
		return nil, err
	}
	return b.files, nil
}

// checkListed reports the pages of docs/ that the entry page does not list.
func (b *builder) checkListed() {
	err := fs.WalkDir(b.root, "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" && b.bySrc[name] == nil {
			b.fail("%s is not listed in %s; add it to the list of its group", name, index)
		}
		return err
	})
	if err != nil {
		b.faults = append(b.faults, err)
	}
}

// write renders the pages, and adds what all pages share.
func (b *builder) write() error {
	for i, p := range b.pages {
		html, err := b.html(i)
		if err != nil {
			return fmt.Errorf("%s: %w", p.source, err)
		}
		b.files[p.path+".html"], b.files[p.path+".md"] = html, []byte(p.text)
	}
	b.files["llms.txt"] = []byte(b.pages[0].text)
	b.files["llms-full.txt"] = []byte(b.fullText())
	return b.writeShared()
}

// fullText returns the text of all pages but the changelog, which is longer than the others and
// describes earlier versions. Its links lead to the pages of Markdown.
func (b *builder) fullText() string {
	var all strings.Builder
	for _, p := range b.pages {
		if p.source != "CHANGELOG.md" {
			fmt.Fprintf(&all, "<!-- %s.md -->\n\n%s\n", p.path, b.rewrite(p, ".", p.path+".md"))
		}
	}
	return all.String()
}
