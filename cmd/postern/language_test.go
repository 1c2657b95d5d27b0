package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// bannedWords lists words that names in the code must not contain: metaphors and private
// vocabulary, for which the field has terms. CONTRIBUTING.md describes the language.
func bannedWords() map[string]string {
	return map[string]string{
		"house": "app or server", "room": "package", "shelf": "resolver or cache", "shelves": "resolver or cache",
		"bringer": "owner", "beside": "what it computes", "told": "reported", "unheard": "withoutDuplicates",
		"steady": "normalizer", "anew": "again", "whom": "user, client or caller", "somebody": "user",
		"whoever": "user, client or caller", "mend": "fix", "meeting": "fetch",
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
	banned, files := bannedWords(), 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				for _, word := range wordsOf(id.Name) {
					if instead, found := banned[word]; found {
						t.Errorf("%s: the name %q contains %q; use %s", set.Position(id.Pos()), id.Name, word, instead)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("only %d files were read", files)
	}
}
