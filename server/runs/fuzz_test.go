package runs

import (
	"testing"

	"golang.org/x/text/language"
)

// FuzzPreferredLanguage looks for a field value that leads to a text that is no language tag.
func FuzzPreferredLanguage(f *testing.F) {
	for _, field := range []string{"de-AT, de;q=0.9, *;q=0.1", "*", "", "en;q=2", "x-private", "\xff", "<script>", "de\r\nSet-Cookie: a=b", "und", "i-klingon"} {
		f.Add(field)
	}
	f.Fuzz(func(t *testing.T, field string) {
		tag := preferredLanguage(field)
		if tag == "" {
			return
		}
		if _, err := language.Parse(tag); err != nil || len(tag) > len(field)+20 {
			t.Errorf("%q prefers %q: %v", field, tag, err)
		}
		for _, c := range tag {
			if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
				t.Fatalf("%q prefers %q", field, tag)
			}
		}
	})
}
