package site

import (
	"errors"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/postern-id/postern/internal/datatest"
)

// noDrawing is a Diagram without a flow.
func noDrawing(string, string) (string, error) { return "", nil }

// small is a repository with the entry page and one further page.
func small(quickstart string) fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"docs/index.md":      file("# Shop\n\n> A summary.\n\n## Tutorial\n\n- [Quickstart](quickstart.md): the first steps\n\n## Project\n\n- [Changes](../CHANGELOG.md): what is new\n"),
		"docs/quickstart.md": file(quickstart),
		"docs/data.json":     file("{}"),
		"CHANGELOG.md":       file("# Changes\n\nSee [the start](docs/quickstart.md#the-start).\n"),
		"cmd/main.go":        file("package main\n"),
	}
}

// quickstart is a page without a fault.
const quickstart = "# Quickstart\n\n## The start\n\nSee [quickstart.md](quickstart.md), [changes](../CHANGELOG.md), [code](../cmd/main.go), [folder](../cmd), " +
	"[data](data.json), [above](#the-start) and `[code](nowhere.md)`.\n\n```sh\nsee [code](nowhere.md)\n```\n"

func TestBuild(t *testing.T) {
	files, err := Build(small(quickstart), noDrawing)
	if err != nil {
		t.Fatal(err)
	}
	for name, parts := range map[string][]string{
		"quickstart.md": {"[quickstart.md](quickstart.md), [changes](project/changelog.md), [code](" + repository + "/blob/main/cmd/main.go), [folder](" + repository + "/tree/main/cmd)",
			"[data](data.json), [above](#the-start) and `[code](nowhere.md)`", "see [code](nowhere.md)\n"},
		"quickstart.html": {`<a href="quickstart.html">Quickstart</a>, <a href="project/changelog.html">changes</a>`, `<a href="data.json">`, `<h2 id="the-start">`,
			`<link rel="alternate" type="text/markdown" href="quickstart.md">`, `<a href="quickstart.html" aria-current="page">`, `<a rel="next" href="project/changelog.html">`},
		"project/changelog.md":   {"(../quickstart.md#the-start)"},
		"project/changelog.html": {`<a href="../quickstart.html#the-start">`, `href="../site.css"`, `action="../search.html"`},
		"llms.txt":               {"# Shop\n\n> A summary.\n\n## Tutorial\n\n- [Quickstart](quickstart.md): the first steps\n"},
		"llms-full.txt":          {"<!-- quickstart.md -->\n\n# Quickstart\n", "[above](quickstart.md#the-start)", "[changes](project/changelog.md)"},
		"data.json":              {"{}"},
	} {
		for _, p := range parts {
			if !strings.Contains(string(files[name]), p) {
				t.Errorf("%s does not contain %s:\n%s", name, p, files[name])
			}
		}
	}
}

func TestFaults(t *testing.T) {
	for name, tt := range map[string]struct{ page, want string }{
		"a page that does not exist":   {"# Q\n\n[x](nowhere.md)\n", "docs/quickstart.md: the link leads to docs/nowhere.md, which does not exist"},
		"a source that does not exist": {"# Q\n\n[x](../cmd/other.go)\n", "cmd/other.go, which does not exist"},
		"a heading of the page":        {"# Q\n\n[x](#elsewhere)\n", "the link to #elsewhere leads to no heading of docs/quickstart.md"},
		"a heading of another page":    {"# Q\n\n[x](../CHANGELOG.md#elsewhere)\n", "leads to no heading of CHANGELOG.md"},
		"an image":                     {"# Q\n\n![x](screenshots/x.png)\n", "docs/screenshots/x.png, which does not exist"},
		"an image without text":        {"# Q\n\n![](data.json)\n", "the image data.json has no alternative text"},
		"a link that is not rewritten": {"# Q\n\n[x][y]\n\n[y]: ../CHANGELOG.md\n", "the link to ../CHANGELOG.md leads to no file of the site"},
		"HTML":                         {"# Q\n\n<p onclick=\"x\">\n", "is HTML; use Markdown"},
		"a diagram of no flow":         {"# Q\n\n## f\n\n```mermaid\nflowchart TD\n```\n", "there is no flow f"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Build(small(tt.page+"\n## The start\n"), func(_, anchor string) (string, error) { return "", errors.New("there is no flow " + anchor) })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	for name, tt := range map[string]struct{ item, want string }{
		"a page that is not listed":   {"", "docs/more.md is not listed in docs/index.md"},
		"a page that is missing":      {"- [More](more.md): more\n- [Other](other.md): other\n", "docs/other.md"},
		"a page that is listed twice": {"- [More](more.md): more\n- [Again](more.md): more\n", "docs/index.md lists docs/more.md twice"},
		"an item without a summary":   {"- [More](more.md)\n", `"More" has no summary`},
		"an item without a link":      {"- More\n", `"More" does not have the form`},
	} {
		t.Run(name, func(t *testing.T) {
			root := small(quickstart)
			root["docs/more.md"] = &fstest.MapFile{Data: []byte("# More\n")}
			root["docs/index.md"].Data = append(root["docs/index.md"].Data, tt.item...)
			if _, err := Build(root, noDrawing); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

func TestAnchors(t *testing.T) {
	taken := map[string]bool{}
	for _, tt := range [][2]string{
		{"Daily work", "daily-work"}, {"postern flow check", "postern-flow-check"}, {"C# & F#: .NET", "c--f-net"},
		{"a_b-c", "a_b-c"}, {"Über", "über"}, {"Daily work", "daily-work-1"}, {"Daily work", "daily-work-2"},
	} {
		got := anchorOf(tt[0], taken)
		if taken[got] = true; got != tt[1] {
			t.Errorf("%q has the anchor %q, want %q", tt[0], got, tt[1])
		}
	}
}

func TestColors(t *testing.T) {
	for _, tt := range [][3]string{
		{"yaml", "a: 1 # <x>\n", `<span class="m">a</span>: <span class="n">1</span><span class="c"> # &lt;x&gt;</span>` + "\n"},
		{"yaml", "- {id: done, use: x}\n", `- {<span class="m">id</span>: done, <span class="m">use</span>: x}` + "\n"},
		{"yaml", "a forged one: 'b: c' # d: e\n", `<span class="m">a forged one</span>: <span class="s">&#39;b: c&#39;</span><span class="c"> # d: e</span>` + "\n"},
		{"yaml", "url: http://a/#b\nx:\n", `<span class="m">url</span>: http://a/#b` + "\n" + `<span class="m">x</span>:` + "\n"},
		{"go", `return "x"`, `<span class="k">return</span> <span class="s">&#34;x&#34;</span>`},
		{"text", "return <x>\n", "return &lt;x&gt;\n"},
		{"unknown-language", "return\n", "return\n"},
	} {
		if got, err := colored(tt[0], tt[1]); err != nil || got != tt[2] {
			t.Errorf("%s: %q, %v; want %q", tt[0], got, err, tt[2])
		}
	}
}

var buildOnce = sync.OnceValues(func() (Files, error) { return Build(os.DirFS("../.."), noDrawing) })

// repositorySite returns the site of this repository.
func repositorySite(t *testing.T) Files {
	t.Helper()
	files, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	reference = regexp.MustCompile(`\s(?:href|src|action)="([^"]*)"`)
	id        = regexp.MustCompile(`\sid="([^"]*)"`)
	unsafe    = regexp.MustCompile(`(?i)<script>|<style|<[a-z][^<>]*\s(style|on[a-z]+)=|="javascript:`)
)

// The documentation of this repository has no fault. All references of its HTML lead to files and
// anchors of the site, ids are unique, and the policy of the pages permits all that they contain.
func TestRepository(t *testing.T) {
	files := repositorySite(t)
	if len(files) < 130 {
		t.Errorf("only %d files", len(files))
	}
	ids := map[string][]string{}
	for name, text := range files {
		for _, found := range id.FindAllSubmatch(text, -1) {
			if path.Ext(name) == ".html" {
				ids[name] = append(ids[name], string(found[1]))
			}
		}
	}
	for name, text := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		if sorted := slices.Sorted(slices.Values(ids[name])); len(slices.Compact(sorted)) != len(ids[name]) {
			t.Errorf("%s has an id twice: %v", name, sorted)
		}
		if n := strings.Count(string(text), "<h1"); n != 1 {
			t.Errorf("%s has %d headings of the first level", name, n)
		}
		if found := unsafe.Find(text); found != nil {
			t.Errorf("%s contains %s", name, found)
		}
		for _, found := range reference.FindAllSubmatch(text, -1) {
			to, err := url.Parse(strings.ReplaceAll(string(found[1]), "&amp;", "&"))
			if err != nil || to.IsAbs() {
				continue
			}
			target := name
			if to.Path != "" {
				target = path.Join(path.Dir(name), to.Path)
			}
			if files[target] == nil || to.Fragment != "" && !slices.Contains(ids[target], to.Fragment) {
				t.Errorf("%s: %s leads nowhere", name, to)
			}
		}
	}
}

// Each page has a page of Markdown next to it, and llms.txt has the form of https://llmstxt.org.
func TestPagesOfMarkdown(t *testing.T) {
	files := repositorySite(t)
	for name := range files {
		if twin := strings.TrimSuffix(name, ".html") + ".md"; path.Ext(name) == ".html" && name != "search.html" && !strings.HasPrefix(string(files[twin]), "# ") {
			t.Errorf("%s is no page with a title", twin)
		}
	}
	text := string(files["llms.txt"])
	if !regexp.MustCompile(`^# Postern\n\n> .+\n\n`).MatchString(text) {
		t.Errorf("llms.txt begins with %.80s", text)
	}
	item := regexp.MustCompile(`^- \[[^\]]+\]\([^)]+\): .+$`)
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "- ") && !item.MatchString(line) || strings.HasPrefix(line, "### ") {
			t.Errorf("llms.txt has the line %s", line)
		}
	}
}

// The index of the search has the sections of all pages, without the code of diagrams.
func TestSearchIndex(t *testing.T) {
	text := string(repositorySite(t)["search-index.js"])
	var pages [][]any
	datatest.Unmarshal(t, []byte(strings.TrimSuffix(strings.TrimPrefix(text, "const searchIndex = "), ";\n")), &pages)
	sections := 0
	for _, p := range pages {
		sections += len(p[3].([]any))
	}
	if len(pages) < 55 || sections < 450 {
		t.Errorf("%d pages with %d sections", len(pages), sections)
	}
	for want, expected := range map[string]bool{
		`[["The key-encryption key","If the key may have leaked"],"if-the-key-may-have-leaked","`: true, "keys re-encrypt": true, "finish(((end)))": false, "members file": false,
	} {
		if strings.Contains(text, want) != expected {
			t.Errorf("%q is in the index: %v", want, !expected)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := (Files{"a/b.html": []byte("x")}).Write(dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(dir + "/a/b.html"); string(text) != "x" {
		t.Error(string(text), err)
	}
	if err := (Files{"a": nil}).Write(dir); err == nil {
		t.Error("a folder was overwritten")
	}
}
