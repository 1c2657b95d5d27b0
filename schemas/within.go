package schemas

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A value such as an expression is written in a text with quotes, escapes and line breaks that are not part of
// it. placeWithin follows both until the character of the value, so that a problem in an expression has the
// place of its fault.

// textPlace follows a value in the text that it is written in.
type textPlace struct {
	text   []rune
	at     int
	double bool // in double quotes, with escapes
	single bool // in single quotes
}

// placeWithin returns the place of the nth character of a value that is written at a place of a text. If the
// text does not contain the value there, it is that of the value.
func placeWithin(text string, start place, value string, n int) place {
	if hasOtherBreaks(strings.ReplaceAll(text, "\r\n", "\n")) || n > utf8.RuneCountInString(value) {
		return start
	}
	t := &textPlace{text: []rune(text)}
	if !t.moveTo(start) || !t.begin() {
		return start
	}
	runes := []rune(value)
	for j := 0; j < n; {
		switch {
		case t.at >= len(t.text):
			return start
		case unicode.IsSpace(runes[j]) && !t.escapes():
			for ; j < n && unicode.IsSpace(runes[j]); j++ {
			}
			if j < n || !unicode.IsSpace(runes[min(j, len(runes)-1)]) {
				t.skipSpace()
			}
		default:
			t.skipFolding(runes[j])
			t.next()
			j++
		}
	}
	if n < len(runes) {
		t.skipFolding(runes[n])
	}
	return t.place()
}

// moveTo moves to a place, and reports whether the text has it.
func (t *textPlace) moveTo(p place) bool {
	for line := int32(1); line < p.line; line++ {
		for t.at < len(t.text) && t.text[t.at] != '\n' {
			t.at++
		}
		t.at++
	}
	t.at += int(p.column) - 1
	return t.at < len(t.text)
}

// begin moves to the first character of the value, and reports whether its notation is known.
func (t *textPlace) begin() bool {
	switch t.text[t.at] {
	case '"':
		t.double = true
		t.at++
	case '\'':
		t.single = true
		t.at++
	case '|', '>':
		for t.at < len(t.text) && t.text[t.at] != '\n' {
			t.at++
		}
	case '&', '*', '!', '{', '[':
		return false
	}
	return true
}

// escapes reports whether an escape begins here.
func (t *textPlace) escapes() bool { return t.double && t.at < len(t.text) && t.text[t.at] == '\\' }

func (t *textPlace) skipSpace() {
	for t.at < len(t.text) && unicode.IsSpace(t.text[t.at]) {
		t.at++
	}
}

// skipFolding skips a line break, with the space around it, that is not part of the value before a character.
func (t *textPlace) skipFolding(before rune) {
	if unicode.IsSpace(before) {
		return
	}
	t.skipSpace()
	if t.escapes() && t.at+1 < len(t.text) && t.text[t.at+1] == '\n' {
		t.at++
		t.skipSpace()
	}
}

// next skips what stands for one character.
func (t *textPlace) next() {
	switch {
	case t.escapes() && t.at+1 < len(t.text):
		t.at += 2 + map[rune]int{'x': 2, 'u': 4, 'U': 8}[t.text[t.at+1]]
	case t.single && t.text[t.at] == '\'':
		t.at += 2
	default:
		t.at++
	}
}

// place returns the line and the column.
func (t *textPlace) place() place {
	p := place{1, 1}
	for _, r := range t.text[:min(t.at, len(t.text))] {
		if p.column++; r == '\n' {
			p = place{p.line + 1, 1}
		}
	}
	return p
}
