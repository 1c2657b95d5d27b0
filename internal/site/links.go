package site

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// linkOrCode matches code, which rewrite skips, or the destination of a link or an image.
var linkOrCode = regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]+`|\\]\\(([^)\\s]+)\\)")

// rewrite returns the Markdown of a page for a page in the folder dir of the site: its links lead to
// pages of Markdown and to files of the site, or to the repository. Links to a section of the page
// itself lead to a section of own, or of the new page if own is empty.
func (b *builder) rewrite(p *page, dir, own string) string {
	return linkOrCode.ReplaceAllStringFunc(p.raw, func(found string) string {
		to, isLink := strings.CutPrefix(found, "](")
		if !isLink || isAbsolute(to) {
			return found
		}
		name, anchor := cutAnchor(strings.TrimSuffix(to, ")"))
		if name == "" {
			return "](" + own + anchor + ")"
		}
		target, err := b.resolve(p, name)
		switch {
		case err != nil:
			b.fail("%s: %w", p.source, err)
		case !isAbsolute(target):
			target = relative(dir, target)
		}
		return "](" + target + anchor + ")"
	})
}

// cutAnchor splits a link into its path and its anchor, which is empty or begins with "#".
func cutAnchor(to string) (name, anchor string) {
	if at := strings.IndexByte(to, '#'); at >= 0 {
		return to[:at], to[at:]
	}
	return to, ""
}

func isAbsolute(to string) bool {
	u, err := url.Parse(to)
	return err == nil && u.Scheme != ""
}

// checkLinks reports the links of a page that lead to no file or anchor of the site, and makes those
// to pages lead to HTML.
func (b *builder) checkLinks(p *page) {
	if p.tree == nil {
		return
	}
	byPath := map[string]*page{}
	for _, other := range b.pages {
		byPath[other.path+".md"] = other
	}
	walk(p.tree, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			b.nameLink(p, n, byPath)
			n.Destination = []byte(b.checked(p, string(n.Destination), byPath))
		case *ast.Image:
			if plain(n, []byte(p.text)) == "" {
				b.fail("%s: the image %s has no alternative text", p.source, n.Destination)
			}
			b.checked(p, string(n.Destination), byPath)
		}
	})
}

// checked returns the destination of a link in HTML.
func (b *builder) checked(p *page, to string, byPath map[string]*page) string {
	if isAbsolute(to) {
		return to
	}
	name, anchor := cutAnchor(to)
	target := p
	if name != "" {
		at := path.Join(path.Dir(p.path), name)
		if target = byPath[at]; target == nil {
			if b.files[at] == nil {
				b.fail("%s: the link to %s leads to no file of the site", p.source, to)
			}
			return to
		}
		name = strings.TrimSuffix(name, ".md") + ".html"
	}
	if anchor != "" && !target.anchors[anchor[1:]] {
		b.fail("%s: the link to %s leads to no heading of %s", p.source, to, target.source)
	}
	return name + anchor
}

// nameLink replaces the text of a link to a page that is the name of its file, such as
// "configuration.md", by the title of the page.
func (b *builder) nameLink(p *page, n *ast.Link, byPath map[string]*page) {
	name, _ := cutAnchor(string(n.Destination))
	target := byPath[path.Join(path.Dir(p.path), name)]
	if target == nil || plain(n, []byte(p.text)) != path.Base(target.source) {
		return
	}
	n.RemoveChildren(n)
	n.AppendChild(n, ast.NewString([]byte(target.title)))
}
