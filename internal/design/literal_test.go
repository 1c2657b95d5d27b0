package design

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// literal matches colors that are written out. An index of three digits is no color.
var literal = regexp.MustCompile(`#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})\b|\b(?:rgb|rgba|hsl|hsla|hwb|lab|lch|oklab|oklch)\([\d.\s%,/]+\)`)

// named matches the colors with names that style sheets and drawings are written with.
var named = regexp.MustCompile(`(?:color|background|fill|stroke|border|outline)[\w-]*(?:: ?|=")(?:white|black|gr[ae]y|silver|red|green|blue|orange|yellow|purple)\b`)

// exceptions are the files with colors of their own, and why.
func exceptions() map[string]string {
	return map[string]string{
		"internal/design":                            "the tokens",
		"schemas/theme.go":                           "the example in an error about the theme of a user",
		"schemas/theme_test.go":                      "themes of users",
		"cmd/postern/theme_test.go":                  "themes of users",
		"server/gate/doc.go":                         "the example of a theme of a user",
		"e2e/gate_brand_test.go":                     "themes of users",
		"e2e/gate_page_test.go":                      "themes of users",
		"e2e/walks_applications_test.go":             "themes of users",
		"e2e/console_simulator_test.go":              "what the browser computes from the tokens",
		"internal/store":                             "numbers of issues",
		"server/console/web/src/Appearance.tsx":      "the example of a theme of a user",
		"server/console/web/src/SchemaForm.tsx":      "the example of a theme of a user",
		"server/console/web/src/gallery.tsx":         "the example of a theme of a user",
		"server/console/web/src/texts/simulator.ts":  "the example of a theme of a user, in other languages",
		"server/console/web/src/flows/appearance.ts": "tints in the text editor",
	}
}

// isDrawing reports whether a file is a picture, which cannot refer to tokens: it may have their values.
func isDrawing(file string) bool { return strings.HasPrefix(file, "docs/") && path.Ext(file) == ".svg" }

// sources returns the files of the module that determine how something looks.
func sources(t *testing.T) (files []string) {
	t.Helper()
	skipped := []string{".git", "node_modules", "dist", "testdata", "bin", "vendor"}
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return fs.SkipDir
		case d.Type().IsRegular() && slices.Contains([]string{".css", ".svg", ".html", ".go", ".ts", ".tsx", ".js", ".mjs"}, path.Ext(name)):
			files = append(files, filepath.ToSlash(strings.TrimPrefix(name, "../../")))
		}
		return nil
	})
	if err != nil || len(files) < 500 {
		t.Fatal(len(files), err)
	}
	return files
}

// Colors are in the tokens, and nowhere else.
func TestColorsAreTokens(t *testing.T) {
	known := map[string]bool{}
	for _, scheme := range []Scheme{Light, Dark, LightContrast, DarkContrast} {
		for _, value := range values()[scheme] {
			known[value] = true
		}
	}
	used := map[string]bool{}
	for _, file := range sources(t) {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, color := range colorsOf(file, line) {
				switch {
				case isDrawing(file) && known[color]:
				case exceptionOf(file) != "":
					used[exceptionOf(file)] = true
				default:
					t.Errorf("%s:%d: %s: use a token of internal/design", file, i+1, color)
				}
			}
		}
	}
	for place := range exceptions() {
		if !used[place] {
			t.Errorf("%s has no colors: remove the exception", place)
		}
	}
}

func exceptionOf(file string) string {
	for place := range exceptions() {
		if file == place || strings.HasPrefix(file, place+"/") {
			return place
		}
	}
	return ""
}

// colorsOf returns the colors in a line of a file: not the numbers of issues, fragments of addresses or
// character references.
func colorsOf(file, line string) (colors []string) {
	for _, at := range literal.FindAllStringIndex(line, -1) {
		color, before := line[at[0]:at[1]], line[:at[0]]
		if _, err := strconv.Atoi(strings.TrimPrefix(color, "#")); err == nil && len(color) < 7 && path.Ext(file) != ".css" && path.Ext(file) != ".svg" {
			continue
		}
		if strings.HasSuffix(before, "&") || regexp.MustCompile(`[\w/)]$`).MatchString(before) && strings.HasPrefix(color, "#") {
			continue
		}
		colors = append(colors, color)
	}
	if slices.Contains([]string{".css", ".svg", ".html"}, path.Ext(file)) {
		colors = append(colors, named.FindAllString(line, -1)...)
	}
	return colors
}

func TestColorsAreFound(t *testing.T) {
	for _, tt := range []struct {
		file, line string
		want       []string
	}{
		{"a.css", "color: #fff; background: rgb(1 2 3 / .5)", []string{"#fff", "rgb(1 2 3 / .5)"}},
		{"a.css", "border: 1px solid #00112233", []string{"#00112233"}},
		{"a.svg", `<rect fill="white"/>`, []string{`fill="white`}},
		{"a.go", `"#1c6b52"`, []string{"#1c6b52"}},
		{"a.go", "https://example.com/page#abc, &#123; #123 and rgb(x)", nil},
		{"a.css", "color: var(--red)", nil},
	} {
		if got := colorsOf(tt.file, tt.line); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}
