package console

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/signins"
)

// Each text that the source passes to t as a literal, the title of each form, and what each list shows without items, is there in German and French.
func TestTextsAreTranslated(t *testing.T) {
	languages := map[string]*strings.Builder{"german": {}, "french": {}}
	files, err := filepath.Glob("web/src/texts/*.ts")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text := datatest.ReadFile(t, name)
		german, french, found := strings.Cut(string(text), "export const french")
		if !found {
			t.Errorf("%s has no French texts", name)
		}
		languages["german"].WriteString(german)
		languages["french"].WriteString(french)
	}
	literal := regexp.MustCompile(`\b(?:t\(|(?:creation|about|empty): )("(?:[^"\\]|\\.)*")`)
	for _, text := range signins.Texts() {
		for language, texts := range languages {
			if !strings.Contains(texts.String(), `"`+text+`": "`) {
				t.Errorf("the sentence %q of internal/signins has no %s text", text, language)
			}
		}
	}
	count := 0
	err = filepath.WalkDir("web/src", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(filepath.Ext(path), ".ts") || strings.Contains(path, "description.d") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range literal.FindAllStringSubmatch(string(text), -1) {
			count++
			for language, texts := range languages {
				if !strings.Contains(texts.String(), found[1]+": ") {
					t.Errorf("%s: %s has no %s text", path, found[1], language)
				}
			}
		}
		return err
	})
	if err != nil || count < 200 {
		t.Error(count, err)
	}
}
