package flows

import (
	"embed"
	"encoding/json"
	"strings"
	"sync"
)

//go:embed words/*.json
var wordFiles embed.FS

var words = sync.OnceValue(func() map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, language := range []string{"de", "fr"} {
		var texts map[string]string
		text, err := wordFiles.ReadFile("words/" + language + ".json")
		if err == nil {
			err = json.Unmarshal(text, &texts)
		}
		if err != nil {
			panic(err) // they are part of the program
		}
		found[language] = texts
	}
	return found
})

// Translations returns the texts of the built-in flows, their kinds, the hosted pages and the
// server's errors in the language of a BCP 47 tag, by their English text or error.CODE; nil for
// English and for unsupported languages. Callers must not change it.
func Translations(tag string) map[string]string {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return words()[language]
}
