package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth limits the nesting of lists and objects in an untrusted text.
const maxDepth = 100

// ParseJSON reads exactly one JSON value (RFC 8259). Beyond the grammar it rejects duplicate and
// unnamed members, nesting over 100 levels, invalid UTF-8, and numbers that a float64 cannot
// represent: two parsers could interpret these differently, so that a check by one would prove
// nothing for the other.
//
// The document is nil if there are problems. The cost is linear in the text, whose size the caller
// limits, however many problems there are: at most fifty are returned, the last with the number of
// the others.
func ParseJSON(data []byte) (*Document, []Problem) {
	if at := invalidUTF8(data); at >= 0 {
		return nil, []Problem{problemAt(data, at, "the text is not valid UTF-8 here")}
	}
	r := newJSONReader(string(data), len(data))
	root := r.value()
	if root == nil || !r.ended() {
		r, root = explainFault(data)
	}
	if !r.isEmpty() {
		return nil, r.listed()
	}
	return &Document{text: bytes.TrimSpace(data), root: root, source: string(data)}, nil
}

// explainFault reads a text that is not JSON, or is nested too deep, up to its fault.
func explainFault(data []byte) (r jsonReader, root *element) {
	end, broken := grammarFault(data)
	r = newJSONReader(string(data), end)
	root = r.value()
	if broken != "" && !r.stopped {
		r.explain(broken)
	}
	return r, root
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

// grammarFault returns the offset at which a text stops being JSON, and what encoding/json says
// about it; "" if it is JSON. For a text that ends too early, encoding/json reports only that. To
// learn what is missing, it appends an invalid character.
func grammarFault(data []byte) (end int, says string) {
	if json.Unmarshal(data, new(json.RawMessage)) == nil {
		return len(data), ""
	}
	fault := &json.SyntaxError{Offset: 1}
	err := json.Unmarshal(append(bytes.Clone(data), 0), new(json.RawMessage))
	errors.As(err, &fault)
	return int(fault.Offset) - 1, err.Error()
}

// jsonReader parses the values of a text and their positions, up to the first grammar error. At
// that end its methods return nil or false.
type jsonReader struct {
	findings
	text    string
	end     int  // where the grammar breaks
	stopped bool // because of a noted problem
	pos     int
	counted int   // here is the position of text[counted]
	here    place // of the reading position; see mark
	start   int   // of the last string, number or word
	token   place // of the same
}

func newJSONReader(text string, end int) jsonReader {
	return jsonReader{text: text, end: end, here: place{1, 1}}
}

// ended reports whether only blanks are left.
func (r *jsonReader) ended() bool {
	r.peek()
	return r.pos == r.end
}

// value reads a value, with the blanks before it.
func (r *jsonReader) value() *element {
	c := r.peek()
	r.begin()
	e, ok := &element{place: r.token}, false
	switch {
	case c == '{' || c == '[':
		ok = r.collection(e, c)
	case c == '"':
		e.shape = stringShape
		e.text, ok = r.string()
	case c == '-' || '0' <= c && c <= '9':
		e.shape = numberShape
		e.text, ok = r.number()
	default:
		ok = r.word(e)
	}
	if !ok {
		return nil
	}
	return e
}

// collection reads a list or an object.
func (r *jsonReader) collection(e *element, open byte) bool {
	if len(r.at) == maxDepth {
		r.note(e.place, "nested deeper than ", strconv.Itoa(maxDepth), " levels")
		r.stopped = true
		return false
	}
	read, closing := r.item, byte(']')
	e.shape = arrayShape
	if open == '{' {
		read, closing = r.member, '}'
		e.shape = objectShape
	}
	r.pos++
	for first := true; !r.accept(closing); first = false {
		if !first && !r.accept(',') || !read(e) {
			return false
		}
	}
	return true
}

func (r *jsonReader) item(list *element) bool {
	r.at = r.at.item(len(list.items))
	item := r.value()
	if item == nil {
		return false
	}
	r.at = r.at.up()
	list.addItem(item)
	return true
}

func (r *jsonReader) member(object *element) (ok bool) {
	if r.peek() != '"' {
		return false
	}
	r.begin()
	m := member{place: r.token}
	if m.name, ok = r.string(); !ok {
		return false
	}
	r.enterMember(m)
	if !r.accept(':') {
		return false
	}
	if m.value = r.value(); m.value == nil {
		return false
	}
	r.leaveMember(object, m)
	return true
}

func (r *jsonReader) string() (text string, ok bool) {
	for r.pos++; r.pos < r.end; r.pos++ {
		switch c := r.text[r.pos]; {
		case c == '"':
			r.pos++
			return unescape(r.text[r.start+1 : r.pos-1]), true
		case c < ' ':
			return "", false
		case c == '\\':
			length := escapeLength(r.text[r.pos:r.end])
			if length == 0 {
				return "", false
			}
			r.pos += length - 1
		}
	}
	return "", false
}

// escapeLength returns the length of the escape at the beginning of a text; 0 if it is none of RFC
// 8259 §7.
func escapeLength(text string) int {
	if len(text) > 1 && strings.IndexByte(plainEscapes, text[1]) >= 0 {
		return 2
	}
	if len(text) < 6 || text[1] != 'u' {
		return 0
	}
	if _, err := strconv.ParseUint(text[2:6], 16, 16); err != nil {
		return 0
	}
	return 6
}

// plainEscapes are the characters after a backslash that stand for one character.
const plainEscapes = `"\/bfnrt`

// unescape replaces the escapes of a JSON string (RFC 8259 §7), as encoding/json
// does: half a surrogate pair becomes U+FFFD. A call of encoding/json for each
// string would cost many times the string.
func unescape(raw string) string {
	plain, escape, found := strings.Cut(raw, `\`)
	if !found {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for ; found; plain, escape, found = strings.Cut(escape, `\`) {
		out = append(out, plain...)
		if i := strings.IndexByte(plainEscapes, escape[0]); i >= 0 {
			out, escape = append(out, "\"\\/\b\f\n\r\t"[i]), escape[1:]
			continue
		}
		c := hexRune(escape)
		escape = escape[5:]
		if utf16.IsSurrogate(c) {
			low := rune(0)
			if rest, another := strings.CutPrefix(escape, `\`); another {
				low = hexRune(rest)
			}
			if c = utf16.DecodeRune(c, low); c != utf8.RuneError {
				escape = escape[6:]
			}
		}
		out = utf8.AppendRune(out, c)
	}
	return string(append(out, plain...))
}

// hexRune decodes an escape such as u00e9. For other text the result is not a surrogate.
func hexRune(escape string) rune {
	if len(escape) < 5 || escape[0] != 'u' {
		return 0
	}
	c, _ := strconv.ParseUint(escape[1:5], 16, 16)
	return rune(c)
}

func (r *jsonReader) number() (text string, ok bool) {
	for r.pos < len(r.text) && strings.IndexByte("+-.0123456789eE", r.text[r.pos]) >= 0 {
		r.pos++
	}
	text = r.text[r.start:r.pos]
	if !isNumber(text) {
		r.note(r.token, "expected a number such as 12, -3.5 or 1e6, got ", quote(text))
		r.stopped = true
		return "", false
	}
	if fault := numberFault(text); fault != "" {
		r.note(r.token, fault)
	}
	return text, true
}

// isNumber reports whether text is a JSON number: RFC 8259 §6.
func isNumber(text string) bool {
	digits, rest := cutDigits(strings.TrimPrefix(text, "-"))
	isValid := digits == "0" || digits != "" && digits[0] != '0'
	if fraction, found := strings.CutPrefix(rest, "."); found {
		digits, rest = cutDigits(fraction)
		isValid = isValid && digits != ""
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		if rest = rest[1:]; rest != "" && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		digits, rest = cutDigits(rest)
		isValid = isValid && digits != ""
	}
	return isValid && rest == ""
}

// cutDigits cuts a text after the digits that it begins with.
func cutDigits(text string) (digits, rest string) {
	i := 0
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		i++
	}
	return text[:i], text[i:]
}

func (r *jsonReader) word(e *element) bool {
	for i, word := range []string{"null", "true", "false"} {
		if strings.HasPrefix(r.text[r.pos:max(r.pos, r.end)], word) {
			r.pos += len(word)
			e.shape, e.text = shape(min(i, 1)), word // nullShape or booleanShape
			return true
		}
	}
	return false
}

// peek returns the next character after blanks, 0 at the end.
func (r *jsonReader) peek() byte {
	for ; r.pos < r.end; r.pos++ {
		if c := r.text[r.pos]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
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

// begin notes that a string, number or word begins at the reading position.
func (r *jsonReader) begin() { r.start, r.token = r.pos, r.mark() }

// mark returns the line and column of the reading position. It continues from its previous result,
// so that one long line costs no more than many.
func (r *jsonReader) mark() place {
	for r.counted < r.pos && r.counted < len(r.text) {
		c, size := utf8.DecodeRuneInString(r.text[r.counted:])
		r.counted += size
		r.here.column++
		if c == '\n' {
			r.here = place{r.here.line + 1, 1}
		}
	}
	return r.here
}

// explain notes where the grammar breaks, in words for people.
func (r *jsonReader) explain(says string) {
	r.pos = r.end
	got := "the end of the text"
	if c, size := utf8.DecodeRuneInString(r.text[r.end:]); unicode.IsPrint(c) && size > 0 {
		got = string(c)
	} else if size > 0 {
		got = fmt.Sprintf("%U", c)
	}
	for _, m := range [][2]string{
		{"looking for beginning of value", "expected a value, got "},
		{"object key string", "expected a member's name in double quotes, got "},
		{"after object key:value pair", "expected a comma or } after a member of the object, got "},
		{"after object key", "expected a colon after the member's name, got "},
		{"after array element", "expected a comma or ] after an item of the list, got "},
		{"after top-level value", "expected the end of the text after the first value, got "},
	} {
		if strings.Contains(says, m[0]) {
			r.note(r.mark(), m[1], got)
			return
		}
	}
	switch {
	case strings.Contains(says, "in literal"):
		r.note(r.token, "expected a value, got ", r.text[r.start:r.start+1])
	case r.end >= len(r.text):
		r.note(r.token, "the string that begins here has no closing quote")
	case strings.Contains(says, "in string literal"):
		r.note(r.mark(), "control character ", got, ` in a string; write it as an escape such as \n`)
	default:
		r.note(r.token, `an escape in this string is wrong; expected one of \" \\ \/ \b \f \n \r \t or \u and four hex digits`)
	}
}
