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

// Change is a changed value, in JSON. "" stands for a missing value.
type Change struct{ Path, Old, New string }

// String returns the change on one line.
func (c Change) String() string {
	switch {
	case c.Old == "":
		return fmt.Sprintf("%s: + %s", c.Path, c.New)
	case c.New == "":
		return fmt.Sprintf("%s: - %s", c.Path, c.Old)
	}
	return fmt.Sprintf("%s: %s → %s", c.Path, c.Old, c.New)
}

// diff lists the differences of two values by path.
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

// diffItems compares lists: item by item if they have the same length or their items have
// ids, otherwise by the items that only one list has.
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
		list = append(list, Change{path, shortJSON(was), shortJSON(is)}) // same items, other order
	}
	return list
}

// aligned reports whether the items of two lists correspond by index: objects with the same
// id and handle, or without any.
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

// itemsWithout returns the items that the other list lacks, counting repetitions.
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

// text returns a value as JSON.
func text(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it was read as JSON
	return strings.TrimSuffix(b.String(), "\n")
}

// maxShownLength limits the values in a change, in bytes.
const maxShownLength = 200

// shortJSON returns a value as JSON, truncated if it is long.
func shortJSON(v any) string {
	shown := []rune(text(v))
	if len(shown) > maxShownLength {
		return string(shown[:maxShownLength]) + "…"
	}
	return string(shown)
}
