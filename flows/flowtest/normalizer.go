package flowtest

import (
	"fmt"
	"regexp"
	"strings"
)

// normalizer gives ids that are made as a run goes, and differ each time, names that do
// not: what is told of a scenario is the same whenever it is played.
type normalizer struct {
	given map[string]bool // ids that are the same each time
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

// text writes a text with the names.
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

// normalizeLines writes lines with the names.
func (s *normalizer) normalizeLines(lines ...string) []string {
	return strings.Split(s.text(strings.Join(lines, "\n")), "\n")
}

// normalizeValue writes a value with the names, if it is a text.
func (s *normalizer) normalizeValue(value any) any {
	if text, ok := value.(string); ok {
		return s.text(text)
	}
	return value
}
