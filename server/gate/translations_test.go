package gate

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/translations"
)

// Every text that the scripts use exists, and every existing text is used.
func TestTextsAreUsed(t *testing.T) {
	english, german := translations.Builtin().Match("en").Pages, translations.Builtin().Match("de").Flows
	var scripts strings.Builder
	for name, text := range webFiles(t) {
		if strings.HasSuffix(name, ".js") {
			scripts.WriteString(text)
		}
	}
	code := scripts.String()
	for key := range english {
		kind, word, _ := strings.Cut(key, ".")
		coded := strings.HasPrefix(key, "error.") || strings.HasPrefix(key, "oauth.")
		coded = coded || strings.Contains(code, "`"+kind+".${") || strings.Contains(code, "${id}."+word+"`")
		if !coded && !strings.Contains(code, `"`+key+`"`) && !strings.Contains(code, `"`+word+`"`) {
			t.Errorf("no script says %q", key)
		}
	}
	for _, match := range said.FindAllStringSubmatch(code, -1) {
		text := match[1] + match[2]
		if english[text] == "" && german[text] == "" && !slices.Contains(missingTexts(), text) {
			t.Errorf("a script says %q, which neither the pages nor the server have in other languages", text)
		}
	}
}

// said matches the texts in scripts: a key, or a text that is its own key.
var said = regexp.MustCompile(`\bt\("([^"]+)"|"((?:[A-Z][a-z]|\{\w)[^"]*)"`)

// missingTexts lists strings that only look like texts: names of browsers and languages, and protocol
// constants.
func missingTexts() []string {
	return []string{
		"Edg=Edge", "Firefox", "Chrome", "Safari", "Android", "Windows", "Mac OS=macOS", "Linux",
		"Content-Type", "Brand", "Postern-Session", "{n}", "Creation", "Request", "NotAllowedError",
	}
}
