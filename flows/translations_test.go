package flows_test

import (
	"slices"
	"testing"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/translations"
)

// Every text of the built-in flows is translated; package translations compares the languages.
func TestBuiltinFlowsAreTranslated(t *testing.T) {
	german := translations.Builtin().Match("de").Flows
	list, err := flows.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		for _, n := range f.Nodes {
			var with any
			if len(n.With) > 0 {
				datatest.Unmarshal(t, n.With, &with)
			}
			for _, text := range shown(with) {
				if german[text] == "" {
					t.Errorf("%s has the text %q, which is not translated", f.Handle, text)
				}
			}
		}
	}
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
