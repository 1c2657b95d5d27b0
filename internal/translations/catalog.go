package translations

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"

	"github.com/postern-id/postern/internal/folder"
)

//go:embed *.json
var files embed.FS

// english is the default language of users whose language is not available.
const english = "en"

// Language has the texts of one language. {name} in a text is a placeholder.
type Language struct {
	Tag string `json:"-"`
	// Name is the name of the language in itself.
	Name string `json:"name"`
	// Pages are the texts of the scripts of the hosted pages.
	Pages map[string]string `json:"pages"`
	// Flows are the texts of the built-in flows, their kinds, the hosted pages and the server's
	// errors, by their English text or error.CODE. English needs none.
	Flows map[string]string `json:"flows"`
	// Mails are the parts of mails.
	Mails map[string]string `json:"mails"`
}

// Catalog has all available languages. It does not change.
type Catalog struct {
	languages []*Language // English first, then by tag
	matcher   language.Matcher
	standard  *Language // where none fits
}

// Builtin returns the languages that are part of the program.
var Builtin = sync.OnceValue(func() *Catalog {
	found, err := read(files, nil)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return found
})

// Load returns the built-in languages with the files XX.json of a directory, which replace texts or
// add languages. A new language must be complete. An error names every problem of a file.
func Load(directory string) (*Catalog, error) {
	c, err := read(folder.FS(directory), Builtin().languages)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, fmt.Errorf("the languages in %s: %w", directory, err)
	}
	return c, nil
}

// read returns the languages before with those of the files.
func read(from fs.FS, before []*Language) (*Catalog, error) {
	all := map[string]*Language{}
	for _, l := range before {
		all[l.Tag] = l
	}
	names, err := fs.Glob(from, "*.json")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no file such as it.json: copy one of the project's languages there, and translate it")
	}
	for _, name := range names {
		l, err := readFile(from, name)
		if err != nil {
			return nil, err
		}
		if known := all[l.Tag]; known != nil {
			l = known.with(l)
		}
		all[l.Tag] = l
	}
	return newCatalog(all), nil
}

func tagOf(file string) string { return strings.TrimSuffix(path.Base(file), ".json") }

func readFile(from fs.FS, name string) (*Language, error) {
	if tag, err := language.Parse(tagOf(name)); err != nil || tag.String() != tagOf(name) || strings.Contains(tagOf(name), "-") {
		return nil, fmt.Errorf("%s: the name must be that of a language without a region, such as it.json", name)
	}
	text, err := fs.ReadFile(from, name)
	if err != nil {
		return nil, err
	}
	l := &Language{Tag: tagOf(name)}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return nil, fmt.Errorf("%s: expected the members name, pages, flows and mails: %w", name, err)
	}
	return l, nil
}

// with returns a language with the texts of another one, which take precedence.
func (l *Language) with(other *Language) *Language {
	merged := &Language{Tag: l.Tag, Name: l.Name, Pages: maps.Clone(l.Pages), Flows: maps.Clone(l.Flows), Mails: maps.Clone(l.Mails)}
	if other.Name != "" {
		merged.Name = other.Name
	}
	maps.Copy(merged.Pages, other.Pages)
	maps.Copy(merged.Flows, other.Flows)
	maps.Copy(merged.Mails, other.Mails)
	return merged
}

func newCatalog(all map[string]*Language) *Catalog {
	c := &Catalog{languages: []*Language{all[english]}}
	for _, tag := range slices.Sorted(maps.Keys(all)) {
		if tag != english {
			c.languages = append(c.languages, all[tag])
		}
	}
	tags := make([]language.Tag, len(c.languages))
	for i, l := range c.languages {
		tags[i] = language.Make(l.Tag)
	}
	c.matcher, c.standard = language.NewMatcher(tags), c.languages[0]
	return c
}

// Languages returns all languages, English first. Callers must not change them. A nil catalog has the
// built-in languages.
func (c *Catalog) Languages() []*Language { return c.orBuiltin().languages }

func (c *Catalog) orBuiltin() *Catalog {
	if c == nil {
		return Builtin()
	}
	return c
}

// WithDefault returns the catalog with another default language. The tag must be that of an available
// language.
func (c *Catalog) WithDefault(tag string) (*Catalog, error) {
	changed := *c.orBuiltin()
	i := slices.IndexFunc(changed.languages, func(l *Language) bool { return l.Tag == tag })
	if i < 0 {
		tags := make([]string, len(changed.languages))
		for i, l := range changed.languages {
			tags[i] = l.Tag
		}
		return nil, fmt.Errorf("expected one of the available languages %s, got %.64q", strings.Join(tags, ", "), tag)
	}
	changed.standard = changed.languages[i]
	return &changed, nil
}

// Default returns the language where no other is known or available.
func (c *Catalog) Default() *Language { return c.orBuiltin().standard }

// Match returns the language that fits a BCP 47 tag best, the default language if none fits.
func (c *Catalog) Match(tag string) *Language {
	c = c.orBuiltin()
	if tag == "" {
		return c.standard
	}
	_, i, confidence := c.matcher.Match(language.Make(tag))
	if confidence == language.No {
		return c.standard
	}
	return c.languages[i]
}
