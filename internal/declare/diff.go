package declare

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Change is a value that becomes another, in JSON. "" stands for none.
type Change struct{ Path, Old, New string }

// String writes the change on one line.
func (c Change) String() string {
	switch {
	case c.Old == "":
		return fmt.Sprintf("%s: + %s", c.Path, c.New)
	case c.New == "":
		return fmt.Sprintf("%s: - %s", c.Path, c.Old)
	}
	return fmt.Sprintf("%s: %s → %s", c.Path, c.Old, c.New)
}

// diff lists the values in which two values differ, by path.
func diff(path string, was, is any) []Change {
	if reflect.DeepEqual(was, is) {
		return nil
	}
	switch was := was.(type) {
	case map[string]any:
		if is, ok := is.(map[string]any); ok {
			return diffMembers(path, was, is)
		}
	case []any:
		if is, ok := is.([]any); ok {
			return diffItems(path, was, is)
		}
	}
	return []Change{{path, shortJSON(was), shortJSON(is)}}
}

func diffMembers(path string, was, is map[string]any) (list []Change) {
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		at := schemas.MemberPath(path, name)
		before, had := was[name]
		after, has := is[name]
		switch {
		case !had:
			list = append(list, Change{at, "", shortJSON(after)})
		case !has:
			list = append(list, Change{at, shortJSON(before), ""})
		default:
			list = append(list, diff(at, before, after)...)
		}
	}
	return list
}

// diffItems compares lists: item by item where they are as long or their items
// have ids, and else by what is in one alone.
func diffItems(path string, was, is []any) (list []Change) {
	if len(was) == len(is) && aligned(was, is) {
		for i := range is {
			list = append(list, diff(fmt.Sprintf("%s[%d]", path, i), was[i], is[i])...)
		}
		return list
	}
	for _, item := range itemsWithout(was, is) {
		list = append(list, Change{path, shortJSON(item), ""})
	}
	for _, item := range itemsWithout(is, was) {
		list = append(list, Change{path, "", shortJSON(item)})
	}
	if len(list) == 0 {
		list = append(list, Change{path, shortJSON(was), shortJSON(is)}) // another order
	}
	return list
}

// aligned reports whether each item of one list has its successor at the same
// place of the other: objects with the same id and handle, or without any.
func aligned(was, is []any) bool {
	for i := range is {
		a, isObject := was[i].(map[string]any)
		b, too := is[i].(map[string]any)
		if !isObject || !too || !reflect.DeepEqual(a["id"], b["id"]) || a["handle"] != b["handle"] {
			return false
		}
	}
	return true
}

// itemsWithout lists the items that the other list does not have as often.
func itemsWithout(list, other []any) (rest []any) {
	counts := map[string]int{}
	for _, item := range other {
		counts[text(item)]++
	}
	for _, item := range list {
		if key := text(item); counts[key] > 0 {
			counts[key]--
		} else {
			rest = append(rest, item)
		}
	}
	return rest
}

// text is a value in JSON.
func text(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it was JSON
	return strings.TrimSuffix(b.String(), "\n")
}

// maxShownLength is how many bytes of a value a change shows.
const maxShownLength = 200

// shortJSON is a value in JSON, cut if it is long.
func shortJSON(v any) string {
	shown := []rune(text(v))
	if len(shown) > maxShownLength {
		return string(shown[:maxShownLength]) + "…"
	}
	return string(shown)
}
