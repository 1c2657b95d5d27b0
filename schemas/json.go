package schemas

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// maxDepth is how deep lists and objects may nest in a text from outside.
const maxDepth = 100

// ParseJSON reads exactly one JSON value (RFC 8259). Beyond the grammar it rejects duplicate and
// unnamed members, nesting over 100 levels, invalid UTF-8, and numbers that a float64 cannot
// represent: where two readers of one text could disagree about its meaning, a check by the first
// proves nothing about the second.
//
// The document is nil if there are problems. The cost is linear in the text, whose size the caller
// limits, however many problems there are: at most fifty are returned, the last with the number of
// the others.
func ParseJSON(data []byte) (*Document, []Problem) {
	r := jsonReader{data: data, line: 1, column: 1}
	root := r.document()
	if !r.isEmpty() {
		return nil, r.listed()
	}
	return &Document{text: bytes.TrimSpace(data), root: root}, nil
}

// jsonReader reads a text from left to right. A method that meets broken
// grammar notes the problem and returns nil; reading then stops.
type jsonReader struct {
	findings
	data         []byte
	text         string // the same, for values to be parts of
	pos          int
	counted      int // line and column are those of data[counted]
	line, column int32
	at           valuePath // of the value being read
	depth        int
}

func (r *jsonReader) document() *element {
	if at := invalidUTF8(r.data); at >= 0 {
		r.pos = at
		return r.fail("the text is not valid UTF-8 here")
	}
	r.text = string(r.data)
	root := r.value()
	if root == nil {
		return nil
	}
	if r.space(); r.pos < len(r.data) {
		return r.fail("expected the end of the text after the first value, got " + r.next())
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
func (r *jsonReader) value() *element {
	r.space()
	line, column := r.mark()
	var e *element
	switch c := r.peek(); {
	case c == '{' || c == '[':
		e = r.nested(c)
	case c == '"':
		if text, ok := r.string(); ok {
			e = &element{shape: stringShape, text: text}
		}
	case c == '-' || '0' <= c && c <= '9':
		e = r.number()
	default:
		e = r.word()
	}
	if e != nil {
		e.line, e.column = line, column
	}
	return e
}

func (r *jsonReader) nested(open byte) *element {
	if r.depth == maxDepth {
		return r.fail(fmt.Sprintf("nested deeper than %d levels", maxDepth))
	}
	r.depth++
	defer func() { r.depth-- }()
	r.pos++
	if open == '{' {
		return r.object()
	}
	return r.array()
}

func (r *jsonReader) array() *element {
	e := &element{shape: arrayShape}
	if r.space(); r.accept(']') {
		return e
	}
	for {
		r.at = r.at.item(len(e.items))
		item := r.value()
		if item == nil {
			return nil
		}
		r.at = r.at.up()
		e.addItem(item)
		if r.space(); r.accept(']') {
			return e
		}
		if !r.accept(',') {
			return r.fail("expected a comma or ] after an item of the list, got " + r.next())
		}
	}
}

func (r *jsonReader) object() *element {
	e := &element{shape: objectShape}
	if r.space(); r.accept('}') {
		return e
	}
	for {
		if !r.member(e) {
			return nil
		}
		if r.space(); r.accept('}') {
			return e
		}
		if !r.accept(',') {
			return r.fail("expected a comma or } after a member of the object, got " + r.next())
		}
	}
}

// member reads a name, a colon and a value, and reports whether it could.
func (r *jsonReader) member(object *element) bool {
	if r.space(); r.peek() != '"' {
		r.fail("expected a member's name in double quotes, got " + r.next())
		return false
	}
	m := member{}
	m.line, m.column = r.mark()
	name, ok := r.string()
	if !ok {
		return false
	}
	if name == "" && r.acceptsMore() {
		r.addKept(emptyName(r.at, m.line, m.column))
	}
	m.name, r.at = name, r.at.member(name)
	if r.space(); !r.accept(':') {
		r.fail("expected a colon after the member's name, got " + r.next())
		return false
	}
	if m.value = r.value(); m.value == nil {
		return false
	}
	if !object.add(m) && r.acceptsMore() {
		r.addKept(repeatedMember(r.at, m, object.member(name)))
	}
	r.at = r.at.up()
	return true
}

// emptyName is the problem of a member whose name is empty. JSON has such
// members, but the schema validator cannot point at them.
func emptyName(at valuePath, line, column int32) Problem {
	return Problem{Path: at.String(), Message: "a member's name is empty; give it one", Line: int(line), Column: int(column)}
}

// repeatedMember is the problem of a member that an object has already.
func repeatedMember(at valuePath, m member, first *member) Problem {
	return Problem{
		Path:    at.String(),
		Message: fmt.Sprintf("%s is given twice, first in line %d; remove one", quote(m.name), first.line),
		Line:    int(m.line),
		Column:  int(m.column),
		onKey:   true,
	}
}

// next names what comes next, for a message.
func (r *jsonReader) next() string {
	if r.pos >= len(r.data) {
		return "the end of the text"
	}
	c, _ := utf8.DecodeRune(r.data[r.pos:])
	if !unicode.IsPrint(c) {
		return fmt.Sprintf("%U", c)
	}
	return string(c)
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
func (r *jsonReader) mark() (line, column int32) {
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
func (r *jsonReader) fail(message string) *element {
	if line, column := r.mark(); r.acceptsMore() {
		r.addKept(Problem{Path: r.at.String(), Message: message, Line: int(line), Column: int(column)})
	}
	return nil
}
