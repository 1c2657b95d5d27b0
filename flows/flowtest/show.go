package flowtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// toJSON returns a value in the types of JSON.
func toJSON(value any) (plain any) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &plain)
	}
	if err != nil {
		panic("flowtest: a value that is not JSON: " + err.Error()) // its members are
	}
	return plain
}

// show writes a value in the notation of scenario files.
func show(value any) string {
	switch v := value.(type) {
	case nil:
		return none
	case string:
		return cmp.Or(v, none)
	case []any:
		return "[" + strings.Join(namesOf(v, show), ", ") + "]"
	case map[string]any:
		members := namesOf(slices.Sorted(maps.Keys(v)), func(name string) string { return name + ": " + show(v[name]) })
		return "{" + strings.Join(members, ", ") + "}"
	case bool, float64:
		text, _ := json.Marshal(v) // both are JSON
		return string(text)
	}
	return show(toJSON(value))
}

// describe returns the transcript line of a request.
func (s Send) describe(first bool, start map[string]string) string {
	line := ">"
	if first {
		line += " start"
	}
	if len(start) > 0 && first {
		line += " " + show(start)
	}
	if sent := show(s); sent != "{}" || !first {
		line += " " + sent
	}
	return line
}
