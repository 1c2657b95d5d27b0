package gate

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// entry is a line of a language's module: a key and its text.
var entry = regexp.MustCompile(`(?m)^\t(?:"([^"]+)"|(\w+)): "(.*)",$`)

// words reads a language module; every line must be an entry.
func words(t *testing.T, file string) map[string]string {
	t.Helper()
	text := webFiles(t)[file]
	found := map[string]string{}
	for _, match := range entry.FindAllStringSubmatch(text, -1) {
		key := match[1] + match[2]
		if _, twice := found[key]; twice {
			t.Errorf("%s has %q twice", file, key)
		}
		found[key] = match[3]
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "\t//") && !entry.MatchString(line) {
			t.Errorf("%s: no entry: %s", file, line)
		}
	}
	return found
}

var slot = regexp.MustCompile(`\{\w+\}|#`)

// A missing text would show its key.
func TestLanguagesAreComplete(t *testing.T) {
	english := words(t, "en.js")
	for _, file := range []string{"de.js", "fr.js"} {
		translated := words(t, file)
		for key, text := range english {
			translation, ok := translated[key]
			if !ok || translation == "" {
				t.Errorf("%s lacks %q: %s", file, key, text)
			}
			if want, got := slot.FindAllString(text, -1), slot.FindAllString(translation, -1); ok && !slices.Equal(sorted(want), sorted(got)) {
				t.Errorf("%s: %q has %v to fill in, want %v", file, key, got, want)
			}
		}
	}
	german, french := words(t, "de.js"), words(t, "fr.js")
	for key := range german {
		if _, ok := french[key]; !ok {
			t.Errorf("fr.js lacks %q, which de.js has", key)
		}
	}
	if len(german) != len(french) {
		t.Errorf("de.js has %d texts, fr.js %d", len(german), len(french))
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// serverWords returns the German texts that come with the application's appearance.
func serverWords(t *testing.T) (texts map[string]string) {
	t.Helper()
	file, err := os.ReadFile("../../flows/words/de.json")
	if err == nil {
		err = json.Unmarshal(file, &texts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// Every text that the scripts use exists, and every existing text is used.
func TestTextsAreUsed(t *testing.T) {
	english, german := words(t, "en.js"), serverWords(t)
	var scripts strings.Builder
	for name, text := range webFiles(t) {
		if strings.HasSuffix(name, ".js") && !slices.Contains([]string{"en.js", "de.js", "fr.js"}, name) {
			scripts.WriteString(text)
		}
	}
	code := scripts.String()
	for key := range english {
		_, word, _ := strings.Cut(key, ".")
		coded := strings.HasPrefix(key, "error.") || strings.HasPrefix(key, "oauth.")
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
		"Edg=Edge", "Firefox", "Chrome", "Safari", "Android", "Windows", "Mac OS=macOS", "Linux", "English", "Deutsch", "Français",
		"Content-Type", "Postern-Session", "Creation", "Request", "NotAllowedError",
	}
}
