package site

import (
	"html"
	"regexp"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// colored returns code as HTML. The classes are c for comments, k for keywords, s for text, n for
// numbers, and m for names of members and elements.
func colored(language, code string) (string, error) {
	if language == "yaml" {
		return coloredYAML(code), nil
	}
	lexer := lexers.Get(language)
	if lexer == nil || language == "text" || language == "console" {
		return html.EscapeString(code), nil
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, code)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for t := tokens(); t != chroma.EOF; t = tokens() {
		b.WriteString(span(classOf(t.Type), t.Value))
	}
	return b.String(), nil
}

// span returns a text of a class as HTML.
func span(class, text string) string {
	escaped := html.EscapeString(text)
	if class == "" || strings.TrimSpace(text) == "" {
		return escaped
	}
	return `<span class="` + class + `">` + escaped + "</span>"
}

func classOf(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Comment):
		return "c"
	case t.InCategory(chroma.Keyword):
		return "k"
	case t.InSubCategory(chroma.LiteralString):
		return "s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "n"
	case t == chroma.NameTag || t == chroma.NameAttribute || t == chroma.NameVariable:
		return "m"
	}
	return ""
}

// yamlToken matches a comment, a quoted text, a name with its colon, or a number and the like.
var yamlToken = regexp.MustCompile(`(?m)((?:^|\s)#.*$)|("(?:[^"\\\n]|\\.)*"|'[^'\n]*')|([\w./-]+(?: [\w./-]+)*):(?:\s|$)|\b(true|false|null|\d[\w.:]*)\b`)

// coloredYAML is colored for YAML. The lexer of chroma takes values within {…} for names, and most
// blocks have some.
func coloredYAML(code string) string {
	var b strings.Builder
	written := 0
	for _, at := range yamlToken.FindAllStringSubmatchIndex(code, -1) {
		for i, class := range []string{"c", "s", "m", "n"} {
			if from, to := at[2*i+2], at[2*i+3]; from >= 0 {
				b.WriteString(html.EscapeString(code[written:from]) + span(class, code[from:to]))
				written = to
			}
		}
	}
	return b.String() + html.EscapeString(code[written:])
}
