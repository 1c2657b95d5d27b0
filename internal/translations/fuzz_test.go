package translations

import (
	"testing"
	"testing/fstest"

	"github.com/postern-id/postern/internal/datatest"
)

// FuzzLoad verifies that a language file is complete or rejected, and replaces only its own language.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		`{"pages": {"cancel": "Zurück"}, "flows": {"Join the club": "Mitglied werden"}}`, `{"mails": null, "flows": null}`, `null`, `{}`, `[]`,
		`{"name": "", "pages": {"cancel": ""}}`, `{"mails": {"subject": "{app} {app} {"}}`, `{"name": 1}`, `{}{}`, "\xff", `{"pages": {"cancel": null}}`,
	} {
		f.Add("de.json", text)
	}
	german := datatest.ReadFile(f, "de.json")
	f.Add("rm.json", string(german))
	f.Add("en.json", `{"flows": {"Sign in": "Log in"}}`)
	f.Add("de-CH.json", `{}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		c, err := read(fstest.MapFS{name: {Data: []byte(text)}}, Builtin().languages)
		if err != nil {
			return
		}
		_ = c.check() // errors are those of the file
		for _, l := range Builtin().languages {
			if got := c.Match(l.Tag); got.Tag != l.Tag || l.Tag != tagOf(name) && got != l {
				t.Errorf("%s %q: the language %s changed", name, text, l.Tag)
			}
		}
	})
}
