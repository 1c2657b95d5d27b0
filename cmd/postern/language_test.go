package main

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/golangci/misspell"
)

// bannedInNames lists words that identifiers must not contain, with what to use instead: metaphors
// and private vocabulary. CONTRIBUTING.md describes the language of the project.
func bannedInNames() map[string]string {
	return map[string]string{
		"house": "app or server", "room": "package", "shelf": "resolver or cache", "shelves": "resolver or cache",
		"bringer": "owner", "beside": "what it computes", "told": "reported", "unheard": "withoutDuplicates",
		"steady": "normalizer", "anew": "again", "whom": "user, client or caller", "somebody": "user",
		"whoever": "user, client or caller", "mend": "fix", "meeting": "fetch",
		"stranger": "untrusted client or anonymous caller", "strangers": "untrusted clients",
		"neighbour": "external service", "judge": "check", "spy": "recorder",
	}
}

// bannedProse matches words that make sentences hard to read, in comments, messages and
// documentation.
var bannedProse = regexp.MustCompile(`(?i)\b(somebody|anybody|nobody|whoever|whom|whomever|told|tells|of which|by which|anew|` +
	`beside|mend(s|ed|ing)?|judge[sd]?|judging|bringer|strangers?|thereof|therein|whereof|wherefrom|shel(f|ves)|of theirs|` +
	`albeit|lest|unheard|the house|is had|are had)\b`)

// prose is a passage that a person reads, and its place.
type prose struct {
	path string
	line int
	text string
}

// goProse returns the comments of a Go file, and the strings of shipped code that have several words.
func goProse(path string, source []byte) (passages []prose, names []prose) {
	set := token.NewFileSet()
	file := set.AddFile(path, -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		switch p := (prose{path, set.Position(pos).Line, literal}); {
		case tok == token.EOF:
			return passages, names
		case tok == token.COMMENT && !strings.HasPrefix(literal, "//go:"),
			tok == token.STRING && strings.Contains(literal, " ") && !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "storetest"):
			passages = append(passages, p)
		case tok == token.IDENT:
			names = append(names, p)
		}
	}
}

var (
	fencedCode = regexp.MustCompile("(?s)```.*?```")
	inlineCode = regexp.MustCompile("`[^`]*`")
)

// markdownProse returns the lines of a page without its code.
func markdownProse(path string, source []byte) (passages []prose) {
	text := fencedCode.ReplaceAllStringFunc(string(source), func(code string) string {
		return strings.Repeat("\n", strings.Count(code, "\n"))
	})
	line := 0
	for l := range strings.Lines(text) {
		line++
		passages = append(passages, prose{path, line, inlineCode.ReplaceAllString(l, "")})
	}
	return passages
}

// readProse returns every passage that a person reads in the repository, and every identifier.
func readProse(t *testing.T) (passages, names []prose) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist" || d.Name() == "bin" || d.Name() == ".git" || d.Name() == "fuzz") {
			return fs.SkipDir
		}
		extension := filepath.Ext(path)
		if err != nil || d.IsDir() || !strings.Contains(" .go .md .js .ts .tsx .html .css .sql .sh ", " "+extension+" ") {
			return err
		}
		files++
		source, err := os.ReadFile(path)
		switch extension {
		case ".go":
			p, n := goProse(path, source)
			passages, names = append(passages, p...), append(names, n...)
		case ".md":
			passages = append(passages, markdownProse(path, source)...)
		default:
			passages = append(passages, prose{path, 1, string(source)})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("only %d files were read", files)
	}
	return passages, names
}

// lineOf returns the line of a passage that contains the byte at offset.
func (p prose) lineOf(offset int) int { return p.line + strings.Count(p.text[:offset], "\n") }

func TestProseIsPlain(t *testing.T) {
	sequential(t)
	passages, _ := readProse(t)
	for _, p := range passages {
		if strings.HasSuffix(p.path, "language_test.go") {
			continue
		}
		for _, at := range bannedProse.FindAllStringIndex(p.text, -1) {
			t.Errorf("%s:%d: rewrite the sentence with %q: subject, verb, object", p.path, p.lineOf(at[0]), p.text[at[0]:at[1]])
		}
	}
}

func TestSpelling(t *testing.T) {
	sequential(t)
	checker := misspell.New()
	checker.AddRuleList(misspell.DictAmerican)
	checker.RemoveRule([]string{"connexion", "appareil"}) // the hosted pages speak French, too
	checker.RemoveRule([]string{"signins"})               // a package
	checker.Compile()
	passages, _ := readProse(t)
	for _, p := range passages {
		if extension := filepath.Ext(p.path); extension != ".go" && extension != ".md" {
			continue // code, such as aria-labelledby
		}
		_, faults := checker.Replace(p.text)
		for _, f := range faults {
			t.Errorf("%s:%d: %q should be %q", p.path, p.line+f.Line-1, f.Original, f.Corrected)
		}
	}
}

// wordsOf splits an identifier in mixed caps into its words, in lower case.
func wordsOf(name string) (words []string) {
	start := 0
	runes := []rune(name)
	for i := 1; i <= len(runes); i++ {
		if i == len(runes) || unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) {
			words = append(words, strings.ToLower(string(runes[start:i])))
			start = i
		}
	}
	return words
}

func TestNamesArePlain(t *testing.T) {
	sequential(t)
	banned := bannedInNames()
	_, names := readProse(t)
	for _, name := range names {
		for _, word := range wordsOf(name.text) {
			if instead, found := banned[word]; found {
				t.Errorf("%s:%d: the name %q contains %q; use %s", name.path, name.line, name.text, word, instead)
			}
		}
	}
}
