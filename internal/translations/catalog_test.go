package translations

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

func TestBuiltinLanguagesAreComplete(t *testing.T) {
	if got := len(Builtin().Languages()); got < 8 {
		t.Errorf("there are %d languages, want at least 8", got)
	}
	for _, l := range Builtin().Languages() {
		if err := l.check(); err != nil {
			t.Errorf("%s: %v", l.Tag, err)
		}
		for _, s := range l.sections() {
			for key := range s.texts {
				if _, ok := s.want[key]; !ok {
					t.Errorf("%s: %s has %q, which other languages lack", l.Tag, s.name, key)
				}
			}
		}
	}
	for key, text := range Builtin().Match("de").Flows { // the key is the English text
		if want, got := placeholders(key), placeholders(text); !strings.HasPrefix(key, "error.") && strings.Join(want, " ") != strings.Join(got, " ") {
			t.Errorf("%q has the placeholders %q, want %q", key, got, want)
		}
	}
}

func TestMatch(t *testing.T) {
	for tag, want := range map[string]string{"": "en", "en-GB": "en", "de-AT": "de", "FR": "fr", "fr-CA": "fr", "xx": "en", "d": "en", "gsw": "de", "no such tag": "en"} {
		if got := Builtin().Match(tag).Tag; got != want {
			t.Errorf("%q is shown in %q, want %q", tag, got, want)
		}
	}
}

func TestLoad(t *testing.T) {
	german, err := files.ReadFile("de.json")
	if err != nil {
		t.Fatal(err)
	}
	swiss := strings.Replace(string(german), "Deutsch", "Rumantsch", 1)
	for _, test := range []struct {
		name, file, text, want string // want is a part of the error
	}{
		{"a new language", "rm.json", swiss, ""},
		{"an incomplete one", "rm.json", strings.Replace(swiss, "cancel", "cancels", 1), `pages lacks the text "cancel"`},
		{"an unknown text", "rm.json", strings.Replace(swiss, "cancel", "cancels", 1), `"cancels" is used nowhere`},
		{"another placeholder", "rm.json", strings.Replace(swiss, "Ihr Code für {app}", "Ihr Code", 1), `expected ["{app}"]`},
		{"a reworded text", "de.json", `{"pages": {"cancel": "Zurück"}, "flows": {"Join the club": "Mitglied werden"}}`, ""},
		{"a reworded English text", "en.json", `{"pages": {"cancel": "Stop"}, "flows": {"Sign in": "Log in"}}`, ""},
		{"an unknown member", "de.json", `{"page": {}}`, "pages, flows and mails"},
		{"no JSON", "de.json", `cancel: Zurück`, "de.json"},
		{"a region", "de-CH.json", swiss, "without a region"},
		{"no language", "deutsch.json", swiss, "such as it.json"},
		{"no file", "readme.md", "", "no file such as it.json"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			datatest.WriteFile(t, filepath.Join(dir, test.file), test.text)
			c, err := Load(dir)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Fatalf("got %v, want an error with %q", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			l := c.Match(strings.TrimSuffix(test.file, ".json"))
			if l.Tag+".json" != test.file || l.Pages["cancel"] == "" || l.Pages["done"] == "" {
				t.Errorf("got %+v", l)
			}
		})
	}
	if Builtin().Match("de").Pages["cancel"] != "Abbrechen" {
		t.Error("loading changed the built-in languages")
	}
}

// The default language replaces English where no other fits, and only there.
func TestDefaultLanguage(t *testing.T) {
	italian, err := Builtin().WithDefault("it")
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]string{"": "it", "ja": "it", "zz-nonsense-tag": "it", "en-GB": "en", "de-AT": "de"} {
		if got := italian.Match(tag).Tag; got != want {
			t.Errorf("%q: %s, want %s", tag, got, want)
		}
	}
	if got := Builtin().Match("ja").Tag; got != "en" || italian.Default().Tag != "it" || Builtin().Default().Tag != "en" {
		t.Errorf("the built-in catalog has the default %s", got)
	}
	if _, err := Builtin().WithDefault("it-IT"); err == nil || err.Error() != `expected one of the available languages en, de, es, fr, it, nl, pl, pt, got "it-IT"` {
		t.Error(err)
	}
}
