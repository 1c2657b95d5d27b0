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

// MemberPath is the path of a member of the object at path. A name that is not
// a plain word is quoted as a JSON string: MemberPath("next", "a b") is
// next["a b"].
func MemberPath(path, name string) string {
	if plainWord(name) {
		return JoinPath(path, name)
	}
	return path + "[" + string(appendString(nil, name)) + "]"
}

// itemPath is the path of an item of the list at path.
func itemPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// trail is a path under construction. It is written out only when there is a
// problem to report, for most values have none.
type trail struct {
	above *trail // nil at the root
	name  string // of a member
	index int    // of an item, or -1
}

func (t *trail) member(name string) *trail { return &trail{above: t, name: name, index: -1} }
func (t *trail) item(i int) *trail         { return &trail{above: t, index: i} }

// String writes the path. The trail of the root is nil.
func (t *trail) String() string {
	switch {
	case t == nil:
		return ""
	case t.index < 0:
		return MemberPath(t.above.String(), t.name)
	}
	return itemPath(t.above.String(), t.index)
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

// segment is one step of a path: a member's name, or an item's index.
type segment struct {
	name  string
	index int
	item  bool
}

// cutSegment takes the first segment off a path and reports false when the
// path is empty or not in the author's notation.
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

// standing is where a path leads in a document.
type standing struct {
	value *element // the value at the path, or the nearest one around it
	key   *member  // the member the path ends with, if it exists
}

// find follows a path as far as the document goes.
func (e *element) find(path string) standing {
	at := standing{value: e}
	for path != "" {
		next, rest, ok := cutSegment(path)
		if !ok {
			return standing{value: at.value}
		}
		switch m := at.value.member(next.name); {
		case next.item && next.index < len(at.value.items):
			at = standing{value: at.value.items[next.index]}
		case !next.item && m != nil:
			at = standing{value: m.value, key: m}
		default:
			return standing{value: at.value}
		}
		path = rest
	}
	return at
}
