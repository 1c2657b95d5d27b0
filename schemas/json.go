package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// maxDepth is how deep lists and objects may nest in a text from outside.
const maxDepth = 100

// ParseJSON reads exactly one JSON value (RFC 8259). Beyond the grammar it
// refuses members given twice, nesting over 100 levels, invalid UTF-8, and
// numbers a float64 cannot hold: where two readers of one text could disagree
// about its meaning, a check by the first says nothing about the second.
//
// The document is nil if there are problems. Its cost is linear in the text,
// whose size the caller bounds.
func ParseJSON(data []byte) (*Document, []Problem) {
	r := jsonReader{data: data, line: 1, column: 1}
	root := r.document()
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return &Document{source: data, text: bytes.TrimSpace(data), root: root}, nil
}

// jsonReader reads a text from left to right. A method that meets broken
// grammar notes the problem and returns nil; reading then stops.
type jsonReader struct {
	data         []byte
	pos          int
	counted      int // line and column are those of data[counted]
	line, column int
	depth        int
	problems     []Problem
}

func (r *jsonReader) document() *element {
	if at := invalidUTF8(r.data); at >= 0 {
		r.pos = at
		return r.fail("", "the text is not valid UTF-8 here")
	}
	root := r.value("")
	if root == nil {
		return nil
	}
	if r.space(); r.pos < len(r.data) {
		return r.fail("", "expected the end of the text after the first value, got "+r.next())
	}
	return root
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	at := 0
	for {
		c, size := utf8.DecodeRune(data[at:])
		if c == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}

// value reads a value, with the blanks before it.
func (r *jsonReader) value(path string) *element {
	r.space()
	line, column := r.mark()
	var e *element
	switch c := r.peek(); {
	case c == '{' || c == '[':
		e = r.nested(path, c)
	case c == '"':
		e = r.string(path)
	case c == '-' || '0' <= c && c <= '9':
		e = r.number(path)
	default:
		e = r.word(path)
	}
	if e != nil {
		e.line, e.column = line, column
	}
	return e
}

func (r *jsonReader) nested(path string, open byte) *element {
	if r.depth == maxDepth {
		return r.fail(path, fmt.Sprintf("nested deeper than %d levels", maxDepth))
	}
	r.depth++
	defer func() { r.depth-- }()
	r.pos++
	if open == '{' {
		return r.object(path)
	}
	return r.array(path)
}

func (r *jsonReader) array(path string) *element {
	e := &element{shape: arrayShape}
	if r.space(); r.accept(']') {
		return e
	}
	for {
		item := r.value(itemPath(path, len(e.items)))
		if item == nil {
			return nil
		}
		e.items = append(e.items, item)
		if r.space(); r.accept(']') {
			return e
		}
		if !r.accept(',') {
			return r.fail(path, "expected a comma or ] after an item of the list, got "+r.next())
		}
	}
}

func (r *jsonReader) object(path string) *element {
	e := &element{shape: objectShape}
	if r.space(); r.accept('}') {
		return e
	}
	for {
		if !r.member(path, e) {
			return nil
		}
		if r.space(); r.accept('}') {
			return e
		}
		if !r.accept(',') {
			return r.fail(path, "expected a comma or } after a member of the object, got "+r.next())
		}
	}
}

// member reads a name, a colon and a value, and reports whether it could.
func (r *jsonReader) member(path string, object *element) bool {
	if r.space(); r.peek() != '"' {
		r.fail(path, "expected a member's name in double quotes, got "+r.next())
		return false
	}
	line, column := r.mark()
	name := r.string(path)
	if name == nil {
		return false
	}
	path = memberPath(path, name.text)
	if r.space(); !r.accept(':') {
		r.fail(path, "expected a colon after the member's name, got "+r.next())
		return false
	}
	value := r.value(path)
	if value == nil {
		return false
	}
	if !object.add(member{name: name.text, line: line, column: column, value: value}) {
		r.problems = append(r.problems, twice(path, object.member(name.text), line, column))
	}
	return true
}

// twice is the problem of a member that an object has already.
func twice(path string, first *member, line, column int) Problem {
	return Problem{
		Path:    path,
		Message: fmt.Sprintf("%s is given twice, first in line %d; remove one", quote(first.name), first.line),
		Line:    line,
		Column:  column,
		onKey:   true,
	}
}

func (r *jsonReader) string(path string) *element {
	start := r.pos
	for r.pos++; r.pos < len(r.data); r.pos++ {
		switch c := r.data[r.pos]; {
		case c == '\\':
			r.pos++
		case c < ' ':
			return r.fail(path, fmt.Sprintf("control character %U in a string; write it as an escape such as \\n", c))
		case c == '"':
			r.pos++
			return r.unquote(path, start)
		}
	}
	r.pos = start
	return r.fail(path, "the string that begins here has no closing quote")
}

// unquote decodes the string from start to here.
func (r *jsonReader) unquote(path string, start int) *element {
	raw := r.data[start:r.pos]
	e := &element{shape: stringShape, text: string(raw[1 : len(raw)-1])}
	if bytes.IndexByte(raw, '\\') < 0 {
		return e
	}
	if err := json.Unmarshal(raw, &e.text); err != nil {
		r.pos = start
		return r.fail(path, `an escape in this string is wrong; expected one of \" \\ \/ \b \f \n \r \t or \u and four hex digits`)
	}
	return e
}

func (r *jsonReader) number(path string) *element {
	start := r.pos
	for r.pos < len(r.data) && bytes.IndexByte([]byte("+-.0123456789eE"), r.data[r.pos]) >= 0 {
		r.pos++
	}
	text := string(r.data[start:r.pos])
	if !isNumber(text) {
		r.pos = start
		return r.fail(path, "expected a number such as 12, -3.5 or 1e6, got "+quote(text))
	}
	if fault := numberFault(text); fault != "" {
		r.pos = start
		return r.fail(path, fault)
	}
	return &element{shape: numberShape, text: text}
}

// isNumber reports whether text is a JSON number.
func isNumber(text string) bool {
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	return json.Valid([]byte(text))
}

func (r *jsonReader) word(path string) *element {
	for word, s := range map[string]shape{"true": booleanShape, "false": booleanShape, "null": nullShape} {
		if bytes.HasPrefix(r.data[r.pos:], []byte(word)) {
			r.pos += len(word)
			return &element{shape: s, text: word}
		}
	}
	return r.fail(path, "expected a value, got "+r.next())
}

// next names what comes next, for a message.
func (r *jsonReader) next() string {
	if r.pos >= len(r.data) {
		return "the end of the text"
	}
	c, _ := utf8.DecodeRune(r.data[r.pos:])
	return fmt.Sprintf("%q", c)
}

func (r *jsonReader) peek() byte {
	if r.pos < len(r.data) {
		return r.data[r.pos]
	}
	return 0
}

func (r *jsonReader) accept(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.pos++
	return true
}

func (r *jsonReader) space() {
	for r.pos < len(r.data) && bytes.IndexByte([]byte(" \t\r\n"), r.data[r.pos]) >= 0 {
		r.pos++
	}
}

// mark returns the line and column of the reading position. It goes on from
// where it was last asked, so that one long line costs no more than many.
func (r *jsonReader) mark() (line, column int) {
	for r.counted < r.pos && r.counted < len(r.data) {
		c, size := utf8.DecodeRune(r.data[r.counted:])
		r.counted += size
		r.column++
		if c == '\n' {
			r.line, r.column = r.line+1, 1
		}
	}
	return r.line, r.column
}

// fail notes a problem at the reading position and returns nil.
func (r *jsonReader) fail(path, message string) *element {
	line, column := r.mark()
	r.problems = append(r.problems, Problem{Path: path, Message: message, Line: line, Column: column})
	return nil
}
