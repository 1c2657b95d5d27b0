package flowtest

import (
	"fmt"
	"regexp"
	"strings"
)

// normalizer replaces generated IDs with stable names, so that the output of a scenario is
// the same in every run.
type normalizer struct {
	given map[string]bool // IDs that do not change between runs
	names map[string]string
}

var madeID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

func newNormalizer(users map[string]Given) *normalizer {
	s := &normalizer{given: map[string]bool{}, names: map[string]string{}}
	for name := range users {
		s.given[userID(name)] = true
	}
	return s
}

// text replaces the IDs in a text.
func (s *normalizer) text(text string) string {
	return madeID.ReplaceAllStringFunc(text, func(id string) string {
		if s.given[id] {
			return id
		}
		if s.names[id] == "" {
			s.names[id] = fmt.Sprintf("<id %d>", len(s.names)+1)
		}
		return s.names[id]
	})
}

// normalizeLines replaces the IDs in lines.
func (s *normalizer) normalizeLines(lines ...string) []string {
	return strings.Split(s.text(strings.Join(lines, "\n")), "\n")
}

// normalizeValue replaces the IDs in a value if it is a string.
func (s *normalizer) normalizeValue(value any) any {
	if text, ok := value.(string); ok {
		return s.text(text)
	}
	return value
}
