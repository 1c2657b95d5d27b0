package translations

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// section is a kind of texts of a language. Open sections can have texts that no built-in language
// has: an operator translates the texts of own flows.
type section struct {
	name        string
	texts, want map[string]string
	open        bool
}

func (l *Language) sections() []section {
	from := Builtin().Match("de") // English has no texts of flows
	return []section{
		{"pages", l.Pages, from.Pages, false},
		{"flows", l.Flows, from.Flows, true},
		{"mails", l.Mails, from.Mails, false},
	}
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// placeholders returns the sorted placeholders of a text.
func placeholders(text string) []string {
	return slices.Sorted(slices.Values(placeholder.FindAllString(text, -1)))
}

func (c *Catalog) check() error {
	var problems []error
	for _, l := range c.languages {
		if err := l.check(); err != nil {
			problems = append(problems, fmt.Errorf("%s.json: %w", l.Tag, err))
		}
	}
	return errors.Join(problems...)
}

// check reports all missing and unknown texts, and wrong placeholders.
func (l *Language) check() error {
	var problems []error
	if l.Name == "" {
		problems = append(problems, errors.New("name is missing: expected the name of the language in itself, such as Italiano"))
	}
	for _, s := range l.sections() {
		for _, key := range slices.Sorted(maps.Keys(s.want)) {
			text, ok := s.texts[key]
			if text == "" && (ok || l.Tag != english || s.name != "flows") {
				problems = append(problems, fmt.Errorf("%s lacks the text %q", s.name, key))
				continue
			}
			if want, got := placeholders(s.want[key]), placeholders(text); ok && !slices.Equal(got, want) {
				problems = append(problems, fmt.Errorf("%s: the text %q has the placeholders %q, expected %q", s.name, key, got, want))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(s.texts)) {
			if _, ok := s.want[key]; !ok && !s.open {
				problems = append(problems, fmt.Errorf("%s: the text %q is used nowhere; remove it", s.name, key))
			}
		}
	}
	return errors.Join(problems...)
}
