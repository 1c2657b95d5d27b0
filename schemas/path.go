package schemas

import (
	"encoding/json"
	"strconv"
	"strings"
)

// JoinPath puts a path below a prefix, both in the author's notation:
// JoinPath("nodes[0].with", "inputs[1]") is nodes[0].with.inputs[1].
func JoinPath(prefix, path string) string {
	if prefix == "" || path == "" || path[0] == '[' {
		return prefix + path
	}
	return prefix + "." + path
}

// MemberPath returns the path of a member of the object at path. A name that is not a plain word is
// quoted as a JSON string: MemberPath("next", "a b") is next["a b"]. A name is cut after 64
// characters, with an ellipsis.
func MemberPath(path, name string) string {
	return string(segment{name: name}.appendTo([]byte(path)))
}

// segment is one step of a path: a member's name, or an item's index.
type segment struct {
	name  string
	index int
	item  bool
}

// appendTo appends the step to the path before it.
func (s segment) appendTo(path []byte) []byte {
	if s.item {
		return append(strconv.AppendInt(append(path, '['), int64(s.index), 10), ']')
	}
	name := shortenName(s.name)
	if !plainWord(name) {
		return append(appendString(append(path, '['), name), ']')
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, name...)
}

// maxPathLength is the length in bytes at which a path is cut. Names come from
// outside: a hundred problems below a hundred long names would make a reply
// many times the size of the request.
const maxPathLength = 512

// valuePath is the path from the root to the current value of a reader. It becomes a string only if
// there is a problem to report: most values have none.
type valuePath []segment

func (t valuePath) member(name string) valuePath { return append(t, segment{name: name}) }
func (t valuePath) item(i int) valuePath         { return append(t, segment{index: i, item: true}) }
func (t valuePath) up() valuePath                { return t[:len(t)-1] }

// String returns the path, cut after maxPathLength with an ellipsis.
func (t valuePath) String() string {
	var path []byte
	for _, step := range t {
		if len(path) >= maxPathLength {
			return string(path) + ellipsis
		}
		path = step.appendTo(path)
	}
	return string(path)
}

// plainWord reports whether a name needs no quotes in a path.
func plainWord(name string) bool {
	for _, c := range name {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && !('0' <= c && c <= '9') && c != '_' && c != '-' && c != '$' {
			return false
		}
	}
	return name != ""
}

// cutSegment removes the first segment of a path. It reports false if the path is empty or not in
// the author's notation.
func cutSegment(path string) (first segment, rest string, ok bool) {
	if strings.HasPrefix(path, `["`) {
		return cutQuoted(path)
	}
	if strings.HasPrefix(path, "[") {
		digits, rest, found := strings.Cut(path[1:], "]")
		i, err := strconv.Atoi(digits)
		return segment{index: i, item: true}, rest, found && err == nil && i >= 0
	}
	path = strings.TrimPrefix(path, ".")
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	return segment{name: path[:end]}, path[end:], end > 0
}

func cutQuoted(path string) (segment, string, bool) {
	decoder := json.NewDecoder(strings.NewReader(path[1:]))
	var name string
	if err := decoder.Decode(&name); err != nil {
		return segment{}, "", false
	}
	rest, ok := strings.CutPrefix(path[1+decoder.InputOffset():], "]")
	return segment{name: name}, rest, ok
}

// child returns the value at the next segment of a path, and its member, if it is the value of one.
func (e *element) child(s segment) (*element, *member) {
	if s.item {
		if s.index < len(e.items) {
			return e.items[s.index], nil
		}
		return nil, nil
	}
	m := e.member(s.name)
	if m == nil {
		return nil, nil
	}
	return m.value, m
}

// pathTarget is the target of a path in a document.
type pathTarget struct {
	value *element // the value at the path, or the nearest one around it
	key   *member  // the member the path ends with, if it exists
}

// find follows a path as far as the document goes; whole reports whether it goes to the end.
func (e *element) find(path string) (at pathTarget, whole bool) {
	at.value = e
	for path != "" {
		next, rest, ok := cutSegment(path)
		if !ok {
			return pathTarget{value: at.value}, false
		}
		value, key := at.value.child(next)
		if value == nil {
			return pathTarget{value: at.value}, false
		}
		at, path = pathTarget{value, key}, rest
	}
	return at, true
}
