package flowtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// A draft needs replies of services that the file does not have, and values for patterns. They are
// invented from the flow: a reply has the values that the node declares, near those that the conditions of the flow
// compare them with, and one reply does not arrive.

// maxInvented limits the replies that are tried for one question.
const maxInvented = 12

// questioner is the configuration of an http-request, as far as a reply depends on it.
type questioner struct {
	Target, Path, As string
	Reply            map[string]struct{ At, Type string }
}

// inventReplies lists replies of a service to a call of the flow, the best first.
func inventReplies(g *engine.Graph, call schemas.Call) (list []Answer) {
	var conditions strings.Builder
	var asking []questioner
	for _, n := range g.Nodes() {
		conditions.Write(n.Config)
		var q questioner
		if n.Kind == "http-request" && json.Unmarshal(n.Config, &q) == nil && q.Target == call.Target && q.Path == call.Path {
			asking = append(asking, q)
		}
	}
	for _, q := range asking {
		values := map[string][]any{}
		for name, v := range q.Reply {
			values[name] = inventValues(v.Type, q.As+"."+name, conditions.String())
		}
		list = append(list, q.reply(values, nil))
		for _, name := range slices.Sorted(maps.Keys(values)) {
			for _, other := range values[name][1:] {
				list = append(list, q.reply(values, map[string]any{name: other}))
			}
		}
	}
	if len(list) >= maxInvented {
		list = list[:maxInvented-1]
	}
	return append(list, Answer{Error: "timeout"})
}

// reply returns a reply with the first of the values of each name, and other values for some.
func (q questioner) reply(values map[string][]any, others map[string]any) Answer {
	var body any = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(q.Reply)) {
		value, is := others[name]
		if !is {
			value = values[name][0]
		}
		body = placed(body, pointerNames(q.Reply[name].At), value)
	}
	text, _ := json.Marshal(body) // made of JSON values
	return Answer{JSON: text}
}

// pointerNames returns the names in a JSON pointer (RFC 6901).
func pointerNames(pointer string) []string {
	names := strings.Split(pointer, "/")[1:]
	for i, name := range names {
		names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	return names
}

// placed returns a value with another one at a place in it. A number in the place is an index.
func placed(in any, names []string, value any) any {
	if len(names) == 0 {
		return value
	}
	if i, err := strconv.Atoi(names[0]); err == nil && i >= 0 && i < maxInvented {
		list, _ := in.([]any)
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i] = placed(list[i], names[1:], value)
		return list
	}
	members, _ := in.(map[string]any)
	if members == nil {
		members = map[string]any{}
	}
	members[names[0]] = placed(members[names[0]], names[1:], value)
	return members
}

var (
	comparedNumber = regexp.MustCompile(`^\s*(?:==|!=|<=?|>=?)\s*(-?[0-9]+(?:\.[0-9]+)?)`)
	comparedText   = regexp.MustCompile(`^\s*(?:==|!=)\s*(?:\\"|')([^"'\\]{0,100})`)
)

// inventValues lists values of a type for a reply, and those that conditions compare it with.
func inventValues(kind, name, conditions string) (values []any) {
	add := func(v any) {
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	switch kind {
	case "boolean":
		return []any{true, false}
	case "string":
		add("value")
	default:
		add(json.Number("1"))
	}
	for _, after := range strings.Split(unescaped(conditions), "replies."+name)[1:] {
		if m := comparedText.FindStringSubmatch(after); m != nil && kind == "string" {
			add(m[1])
		}
		m := comparedNumber.FindStringSubmatch(after)
		if m == nil || kind == "string" {
			continue
		}
		number, _ := strconv.ParseFloat(m[1], 64)
		for _, near := range []float64{number, number - 1, number + 1} {
			add(json.Number(fmt.Sprint(near)))
		}
	}
	return values
}

// unescaped returns JSON without the escapes of <, > and &.
func unescaped(text string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(text)
}

// patternOf returns the pattern and the limits of an input of the step's node; "" for none.
func patternOf(g *engine.Graph, node, identifier string) (pattern string, minLength, maxLength int) {
	type limits struct {
		Identifier, Pattern  string
		MinLength, MaxLength int
	}
	for _, n := range g.Nodes() {
		var config struct{ Inputs []limits }
		if n.ID != node || json.Unmarshal(n.Config, &config) != nil {
			continue
		}
		for _, in := range config.Inputs {
			if in.Identifier == identifier {
				return in.Pattern, in.MinLength, in.MaxLength
			}
		}
	}
	return "", 0, 0
}
