package flows_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows"
)

func TestTranslationsAreComplete(t *testing.T) {
	german, french := flows.Translations("de-AT"), flows.Translations("FR")
	if got, want := slices.Sorted(maps.Keys(french)), slices.Sorted(maps.Keys(german)); !slices.Equal(got, want) {
		t.Errorf("French has %q, German %q", got, want)
	}
	for text := range german {
		want := slots(text)
		if got := slots(german[text]); !strings.HasPrefix(text, "error.") && got != want {
			t.Errorf("German has %s to fill in, where %q has %s", got, text, want)
		}
		if got := slots(french[text]); got != slots(german[text]) {
			t.Errorf("French has %s to fill in for %q, German %s", got, text, slots(german[text]))
		}
	}
	list, err := flows.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		for _, n := range f.Nodes {
			var with any
			if len(n.With) > 0 {
				if err := json.Unmarshal(n.With, &with); err != nil {
					t.Fatal(err)
				}
			}
			for _, text := range shown(with) {
				if german[text] == "" {
					t.Errorf("%s says %q, which German has no words for", f.Handle, text)
				}
			}
		}
	}
	for _, tag := range []string{"", "en-US", "it", "d"} {
		if flows.Translations(tag) != nil {
			t.Errorf("there are words of %q", tag)
		}
	}
}

// slots returns the placeholders of a text, sorted.
func slots(text string) string {
	names := regexp.MustCompile(`\{\w+\}`).FindAllString(text, -1)
	slices.Sort(names)
	return strings.Join(names, " ")
}

// shown returns the texts of a configuration that users read.
func shown(with any) (texts []string) {
	switch v := with.(type) {
	case []any:
		for _, one := range v {
			texts = append(texts, shown(one)...)
		}
	case map[string]any:
		for name, one := range v {
			if text, ok := one.(string); ok && slices.Contains([]string{"title", "text", "label", "placeholder"}, name) {
				texts = append(texts, text)
			}
			texts = append(texts, shown(one)...)
		}
	}
	return texts
}
