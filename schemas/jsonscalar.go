package schemas

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string; ok is false if it cannot.
func (r *jsonReader) string() (text string, ok bool) {
	start, escaped := r.pos, false
	for r.pos++; r.pos < len(r.data); r.pos++ {
		switch c := r.data[r.pos]; {
		case c == '\\':
			escaped = true
			r.pos++
		case c < ' ':
			r.fail(fmt.Sprintf("control character %U in a string; write it as an escape such as \\n", c))
			return "", false
		case c == '"':
			r.pos++
			return r.unquote(start, escaped)
		}
	}
	r.pos = start
	r.fail("the string that begins here has no closing quote")
	return "", false
}

// unquote decodes the string from start to here.
func (r *jsonReader) unquote(start int, escaped bool) (string, bool) {
	raw := r.text[start+1 : r.pos-1]
	if !escaped {
		return raw, true
	}
	text, ok := unescape(raw)
	if !ok {
		r.pos = start
		r.fail(`an escape in this string is wrong; expected one of \" \\ \/ \b \f \n \r \t or \u and four hex digits`)
	}
	return text, ok
}

// unescape replaces the escapes of a JSON string (RFC 8259 §7), as encoding/json
// does: half a surrogate pair becomes U+FFFD. A call of encoding/json for each
// string would cost many times the string.
func unescape(raw string) (string, bool) {
	out := make([]byte, 0, len(raw))
	for {
		plain, escape, found := strings.Cut(raw, `\`)
		if out = append(out, plain...); !found {
			return string(out), true
		}
		if escape == "" {
			return "", false
		}
		if escape[0] == 'u' {
			c, size := hexEscape(escape)
			if size == 0 {
				return "", false
			}
			out, raw = utf8.AppendRune(out, c), escape[size:]
			continue
		}
		i := strings.IndexByte(`"\/bfnrt`, escape[0])
		if i < 0 {
			return "", false
		}
		out, raw = append(out, "\"\\/\b\f\n\r\t"[i]), escape[1:]
	}
}

// hexEscape decodes the escape u00e9, or a surrogate pair that begins like
// ud83d\ude00, and returns how long it is; 0 if it is not one.
func hexEscape(s string) (c rune, size int) {
	c, ok := hexDigits(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(c) {
		return c, 5
	}
	if rest, another := strings.CutPrefix(s[5:], `\`); another {
		if low, ok := hexDigits(rest); ok {
			if pair := utf16.DecodeRune(c, low); pair != utf8.RuneError {
				return pair, 11
			}
		}
	}
	return utf8.RuneError, 5
}

// hexDigits reads the u and the four digits of an escape.
func hexDigits(s string) (rune, bool) {
	if len(s) < 5 || s[0] != 'u' {
		return 0, false
	}
	c, err := strconv.ParseUint(s[1:5], 16, 16)
	return rune(c), err == nil
}

func (r *jsonReader) number() *element {
	start := r.pos
	for r.pos < len(r.data) && strings.IndexByte("+-.0123456789eE", r.data[r.pos]) >= 0 {
		r.pos++
	}
	text := r.text[start:r.pos]
	if !isNumber(text) {
		r.pos = start
		return r.fail("expected a number such as 12, -3.5 or 1e6, got " + quote(text))
	}
	if fault := numberFault(text); fault != "" {
		r.pos = start
		return r.fail(fault)
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

func (r *jsonReader) word() *element {
	for _, word := range []string{"null", "true", "false"} {
		if !strings.HasPrefix(r.text[r.pos:], word) {
			continue
		}
		r.pos += len(word)
		if word == "null" {
			return &element{shape: nullShape, text: word}
		}
		return &element{shape: booleanShape, text: word}
	}
	return r.fail("expected a value, got " + r.next())
}
