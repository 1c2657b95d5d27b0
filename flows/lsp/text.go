package lsp

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/postern-id/postern/flows/syntax"
)

// text is the content of a file with its lines.
type text struct {
	content string
	lines   []int // the offset of each line
	utf8    bool  // positions count bytes, otherwise code units of UTF-16
}

func newText(content string, utf8 bool) text {
	t := text{content, []int{0}, utf8}
	for i := range len(content) {
		if content[i] == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// line returns a line that counts from 0, without its end; "" beyond the text.
func (t *text) line(i int) string {
	if i < 0 || i >= len(t.lines) {
		return ""
	}
	line := t.content[t.lines[i]:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return strings.TrimSuffix(line, "\r")
}

// offset returns the offset of a position. One beyond a line is its end, one beyond the text is the end
// of the text.
func (t *text) offset(p Position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(t.content)
	}
	line := t.line(p.Line)
	at, units := 0, max(p.Character, 0)
	for at < len(line) && units > 0 {
		r, size := utf8.DecodeRuneInString(line[at:])
		units -= t.units(r, size)
		if units < 0 {
			break // within a character
		}
		at += size
	}
	return t.lines[p.Line] + at
}

// units returns the length of a character in the encoding of positions.
func (t *text) units(r rune, size int) int {
	if t.utf8 {
		return size
	}
	return max(utf16.RuneLen(r), 1)
}

// position returns the position of an offset.
func (t *text) position(offset int) Position {
	offset = min(max(offset, 0), len(t.content))
	i, found := slices.BinarySearch(t.lines, offset)
	if !found {
		i--
	}
	p := Position{Line: i}
	for at := t.lines[i]; at < offset; {
		r, size := utf8.DecodeRuneInString(t.content[at:])
		p.Character += t.units(r, size)
		at += size
	}
	return p
}

// rangeOf returns the range of a span.
func (t *text) rangeOf(s syntax.Span) Range { return Range{t.position(s.Start), t.position(s.End)} }

// runeOffset returns the offset of a line from 1 and a column from 1 that counts characters.
func (t *text) runeOffset(line, column int) int {
	if line < 1 || line > len(t.lines) {
		return len(t.content)
	}
	content, at := t.line(line-1), 0
	for ; column > 1 && at < len(content); column-- {
		_, size := utf8.DecodeRuneInString(content[at:])
		at += size
	}
	return t.lines[line-1] + at
}

// runeColumn returns the number of characters before an offset in its line, and the line from 1.
func (t *text) runeColumn(offset int) (line, column int) {
	p := t.position(offset)
	return p.Line + 1, utf8.RuneCountInString(t.content[t.lines[p.Line]:offset])
}

// firstLine returns a span up to the end of its first line, without space at the end.
func (t *text) firstLine(s syntax.Span) syntax.Span {
	if i := strings.IndexByte(t.content[s.Start:s.End], '\n'); i >= 0 {
		s.End = s.Start + len(strings.TrimRight(t.content[s.Start:s.Start+i], " \t\r"))
	}
	return s
}

// replaced returns the text after a change.
func (t *text) replaced(c contentChange) text {
	if c.Range == nil {
		return newText(c.Text, t.utf8)
	}
	start := t.offset(c.Range.Start)
	end := max(start, t.offset(c.Range.End))
	return newText(t.content[:start]+c.Text+t.content[end:], t.utf8)
}
