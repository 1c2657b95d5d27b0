package config

import (
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// The narrow schema accepts what the whole one accepts: of each key its default, and values of all types.
func TestNarrowSchema(t *testing.T) {
	accepted := 0
	for _, k := range keys() {
		for _, given := range []map[string]any{
			{k.path: k.standard}, {k.path: "text"}, {k.path: -7}, {k.path: true}, {k.path: []any{"text", 7}},
			{k.path: map[string]any{"a": map[string]any{"url": 7}}}, {k.path: k.standard, k.path + "x": 7}, {k.path + ".x": 7},
		} {
			text := datatest.Marshal(t, overlay(given))
			narrow, err := narrowSchema(text)
			if err != nil {
				t.Fatal(err)
			}
			got, want := len(narrow.Check(text)) == 0, len(Schema().Check(text)) == 0
			if got != want {
				t.Errorf("%s is accepted: %v, want %v", text, got, want)
			}
			if got {
				accepted++
			}
		}
	}
	if accepted < len(keys()) {
		t.Errorf("%d values are accepted, fewer than keys", accepted)
	}
}
