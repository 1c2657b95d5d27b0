package schemas

import (
	"strings"
	"testing"
)

// A problem within a value has the place of the character, in every notation of YAML and JSON.
func TestPlaceWithinValue(t *testing.T) {
	tests := []struct{ name, text, word string }{
		{"plain", "a:\n  when: one @two\n", "@"},
		{"plain of two lines", "when: one\n  two @three\nb: 1\n", "@"},
		{"single quotes", "when: 'it''s \"x\" @two'\n", "@"},
		{"single quotes of two lines", "when: 'one\n  two @x'\n", "@"},
		{"double quotes", `{"when": "a\tb \"c\" \u00e4 @x"}`, "@"},
		{"double quotes of two lines", "when: \"one\n  two \\\n  three @x\"\n", "@"},
		{"literal", "when: |\n  one\n    two @x\nb: 1\n", "@"},
		{"literal with a hint", "when: |2-\n    one\n  two @x\n", "@"},
		{"folded", "when: >-\n  one\n  two\n\n  three @x\n", "@"},
		{"other letters", "when: 'äöü 日本 @x'\n", "@"},
		{"line ends of Windows", "a: 1\r\nwhen: >\r\n  one\r\n  two @x\r\n", "@"},
		{"the first character", "when: '@x'\n", "@"},
		{"after a space", "when: one   @x\n", "@"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, problems := ParseYAML([]byte(tt.text))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			path := "when"
			if d.At(path) == nil {
				path = "a.when"
			}
			value, _ := d.At(path).Text()
			at := len([]rune(value[:strings.Index(value, tt.word)]))
			before := tt.text[:strings.Index(tt.text, tt.word)]
			line, column := 1+strings.Count(before, "\n"), 1+len([]rune(before[strings.LastIndex(before, "\n")+1:]))
			got := d.Locate([]Problem{{Path: path, Within: at + 1}})[0]
			if got.Line != line || got.Column != column {
				t.Errorf("got %d:%d, expected %d:%d", got.Line, got.Column, line, column)
			}
		})
	}
}
