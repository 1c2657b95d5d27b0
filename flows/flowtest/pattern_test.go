package flowtest

import (
	"regexp"
	"testing"
	"unicode/utf8"
)

// A value for a pattern matches it and has an accepted length; a pattern without one has none.
func TestValuesMatchPatterns(t *testing.T) {
	tests := []struct {
		pattern  string
		min, max int
		found    bool
	}{
		{`[A-Z]{3}-[0-9]{4,6}`, 0, 0, true},
		{`\+[1-9][0-9]{7,14}`, 0, 0, true},
		{`(red|green|blue)`, 4, 5, true},
		{`[a-z]+@[a-z]+\.example`, 20, 0, true},
		{`[a-z]*`, 10, 12, true},
		{`.+`, 1, 100, true},
		{`(?i)yes`, 0, 0, true},
		{`\p{Greek}{2}`, 0, 0, true},
		{`[^a-z]`, 0, 0, true},
		{`a\bb`, 0, 0, false},
		{`[0-9]{3}`, 5, 0, false},
		{`(`, 0, 0, false},
		{`(((a{30}){30}){30}){30}`, 0, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.pattern, func(t *testing.T) {
			value, found := matching(tt.pattern, tt.min, tt.max)
			if found != tt.found {
				t.Fatalf("got %q, %t", value, found)
			}
			n := utf8.RuneCountInString(value)
			if found && (!regexp.MustCompile(`^(?:`+tt.pattern+`)$`).MatchString(value) || n < tt.min || tt.max > 0 && n > tt.max) {
				t.Errorf("got %q", value)
			}
		})
	}
}
