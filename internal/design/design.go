// Package design is the one place of Postern's design: the tokens (colors, type, spacing, radius, elevation
// and motion), the mark and the icons.
//
// tokens.css is the source. Pages include it as it is, or as [Compatible] for browsers without light-dark();
// mails and drawings, which cannot use custom properties, ask [Token] for literal values. A test computes the
// contrast of every pair of colors that is used together.
//
// icons.json has the icons of Lucide (ISC license) that Postern uses. `npm run icons` in server/console/web
// writes it: add a name there, and run it again.
package design

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed tokens.css
var tokens string

//go:embed mark.svg
var mark string

//go:embed icons.json
var icons []byte

// Scheme is what a user prefers.
type Scheme int

// The schemes of tokens.css. The last two are those of users who prefer more contrast.
const (
	Light Scheme = iota
	Dark
	LightContrast
	DarkContrast
)

// dark reports whether a scheme takes the second value of light-dark().
func (s Scheme) dark() bool { return s == Dark || s == DarkContrast }

// Stylesheet returns tokens.css, which declares all tokens as custom properties of :root.
func Stylesheet() string { return tokens }

// Compatible returns the tokens for browsers without light-dark(): each scheme has a rule of its own. A page
// of one scheme sets color-scheme itself and cannot use it.
var Compatible = sync.OnceValue(func() string {
	normal, contrast, rest := parts()
	return choose(normal, Light) +
		"@media (prefers-color-scheme: dark) {\n" + colored(normal, Dark) + "}\n" +
		"@media (prefers-contrast: more) {\n" + choose(contrast, Light) + "}\n" +
		"@media (prefers-contrast: more) and (prefers-color-scheme: dark) {\n" + choose(contrast, Dark) + "}\n" + rest
})

const contrastQuery = "@media (prefers-contrast: more) {\n"

// parts returns the rule of all schemes, the rule of more contrast, and what follows them.
func parts() (normal, contrast, rest string) {
	normal, rest, _ = strings.Cut(tokens[strings.Index(tokens, ":root"):], contrastQuery)
	contrast, rest, _ = strings.Cut(rest, "\n}\n")
	return strings.TrimSpace(normal) + "\n", contrast + "\n", strings.TrimLeft(rest, "\n")
}

var pair = regexp.MustCompile(`light-dark\(([^,()]+), ([^,()]+)\)`)

// choose replaces each light-dark() of a text by the value for a scheme.
func choose(text string, scheme Scheme) string {
	if scheme.dark() {
		return pair.ReplaceAllString(text, "$2")
	}
	return pair.ReplaceAllString(text, "$1")
}

// colored returns the rule with only the declarations of a text that differ between light and dark.
func colored(text string, scheme Scheme) string {
	lines := slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool { return !pair.MatchString(line) })
	return ":root {\n" + choose(strings.Join(lines, ""), scheme) + "}\n"
}

var declaration = regexp.MustCompile(`--([a-z0-9-]+): ([^;]+);`)

// values are the tokens by scheme and name.
var values = sync.OnceValue(func() map[Scheme]map[string]string {
	normal, contrast, _ := parts()
	all := map[Scheme]map[string]string{}
	for _, scheme := range []Scheme{Light, Dark, LightContrast, DarkContrast} {
		text := normal
		if scheme >= LightContrast {
			text += contrast
		}
		all[scheme] = map[string]string{}
		for _, found := range declaration.FindAllStringSubmatch(choose(text, scheme), -1) {
			all[scheme][found[1]] = found[2]
		}
	}
	return all
})

// Token returns the literal value of a token, such as #1c6b52 for "green" in Light, for mails and drawings.
// It panics for a name that tokens.css does not declare: names are written in the program.
func Token(name string, scheme Scheme) string {
	value, ok := values()[scheme][name]
	if !ok {
		panic(fmt.Sprintf("design: tokens.css declares no --%s", name))
	}
	return value
}

// Mark returns the mark as SVG in the color of the text around it.
func Mark() string { return mark }

// Favicon returns the mark as an icon of its own, in the green of the user's scheme.
var Favicon = sync.OnceValue(func() string {
	style := "<style>path{fill:" + Token("green", Light) + "}@media(prefers-color-scheme:dark){path{fill:" + Token("green", Dark) + "}}</style>"
	return strings.Replace(strings.Replace(mark, ` fill="currentColor"`, "", 1), "<path", style+"<path", 1)
})

// shape is an element of an icon: its name and its attributes.
type shape struct {
	name       string
	attributes map[string]string
}

// UnmarshalJSON reads a shape from its array.
func (s *shape) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&s.name, &s.attributes})
}

var readIcons = sync.OnceValue(func() map[string][]shape {
	var read map[string][]shape
	if err := json.Unmarshal(icons, &read); err != nil {
		panic(err) // the file is embedded
	}
	return read
})

// Icon returns an icon as SVG of 24 by 24 units that is drawn in the color of the text around it and hidden
// from screen readers. It panics for a name that icons.json lacks.
func Icon(name string) string {
	shapes, ok := readIcons()[name]
	if !ok {
		panic(fmt.Sprintf("design: icons.json has no %q: add it to icons.mjs", name))
	}
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">`)
	for _, s := range shapes {
		b.WriteString("<" + s.name)
		for _, key := range sortedKeys(s.attributes) {
			fmt.Fprintf(&b, ` %s="%s"`, key, html.EscapeString(s.attributes[key]))
		}
		b.WriteString("/>")
	}
	b.WriteString("</svg>")
	return b.String()
}

// Shapes returns icons as a JSON object by name, each a list of [element, attributes], for pages that build
// them with a script. It panics for a name that icons.json lacks.
func Shapes(names ...string) json.RawMessage {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(icons, &all); err != nil {
		panic(err) // the file is embedded
	}
	chosen := map[string]json.RawMessage{}
	for _, name := range names {
		if all[name] == nil {
			panic(fmt.Sprintf("design: icons.json has no %q: add it to icons.mjs", name))
		}
		chosen[name] = all[name]
	}
	text, err := json.Marshal(chosen)
	if err != nil {
		panic(err) // it was JSON
	}
	return text
}

// Icons returns the names of all icons.
func Icons() []string { return sortedKeys(readIcons()) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
