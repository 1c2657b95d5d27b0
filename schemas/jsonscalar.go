package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
)

func (r *jsonReader) string(at *trail) *element {
	start := r.pos
	for r.pos++; r.pos < len(r.data); r.pos++ {
		switch c := r.data[r.pos]; {
		case c == '\\':
			r.pos++
		case c < ' ':
			return r.fail(at, fmt.Sprintf("control character %U in a string; write it as an escape such as \\n", c))
		case c == '"':
			r.pos++
			return r.unquote(at, start)
		}
	}
	r.pos = start
	return r.fail(at, "the string that begins here has no closing quote")
}

// unquote decodes the string from start to here.
func (r *jsonReader) unquote(at *trail, start int) *element {
	raw := r.data[start:r.pos]
	e := &element{shape: stringShape, text: string(raw[1 : len(raw)-1])}
	if bytes.IndexByte(raw, '\\') < 0 {
		return e
	}
	if err := json.Unmarshal(raw, &e.text); err != nil {
		r.pos = start
		return r.fail(at, `an escape in this string is wrong; expected one of \" \\ \/ \b \f \n \r \t or \u and four hex digits`)
	}
	return e
}

func (r *jsonReader) number(at *trail) *element {
	start := r.pos
	for r.pos < len(r.data) && bytes.IndexByte([]byte("+-.0123456789eE"), r.data[r.pos]) >= 0 {
		r.pos++
	}
	text := string(r.data[start:r.pos])
	if !isNumber(text) {
		r.pos = start
		return r.fail(at, "expected a number such as 12, -3.5 or 1e6, got "+quote(text))
	}
	if fault := numberFault(text); fault != "" {
		r.pos = start
		return r.fail(at, fault)
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

func (r *jsonReader) word(at *trail) *element {
	rest := r.data[r.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("null")):
		r.pos += len("null")
		return &element{shape: nullShape, text: "null"}
	case bytes.HasPrefix(rest, []byte("true")):
		r.pos += len("true")
		return &element{shape: booleanShape, text: "true"}
	case bytes.HasPrefix(rest, []byte("false")):
		r.pos += len("false")
		return &element{shape: booleanShape, text: "false"}
	}
	return r.fail(at, "expected a value, got "+r.next())
}
