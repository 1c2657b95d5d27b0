package flowtest

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Expect contains the expected members of a reply; the JSON Schema describes them. Other
// members are not compared, except for errors: a step or reply with an error fails unless
// `error` or `refused` names it.
type Expect map[string]any

// like returns the number of the earlier step with the same reply, 0 if none is expected.
func (e Expect) like() int {
	like, _ := e["like"].(float64)
	return int(like)
}

// differences are members that are not as expected, with the received values.
type differences []Difference

// add adds a difference. The member is a path below expect.
func (d *differences) add(member string, want, got any) {
	if got == nil || got == "" {
		got = none
	}
	*d = append(*d, Difference{Member: member, Want: want, Got: got})
}

// compare returns every difference between the expected and the received members.
func (e Expect) compare(got map[string]any) (d differences) {
	want := map[string]any{"declined": none, "refused": none, "error": none, "fieldErrors": []any{}}
	maps.Copy(want, e)
	delete(want, "like")
	d.object("", want, got)
	return d
}

// object compares the expected members of an object.
func (d *differences) object(path string, want, got map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		d.member(schemas.MemberPath(path, name), name, want[name], got)
	}
}

// member compares a member of an object, as its name demands.
func (d *differences) member(path, name string, want any, object map[string]any) {
	got := object[name]
	list, _ := want.([]any)
	switch name {
	case "data":
		keys, _ := got.([]any)
		for i, key := range list {
			if !slices.Contains(keys, key) {
				d.add(itemPath(path, i), key, keys)
			}
		}
	case "noClaims":
		d.absent(path, "no claim ", list, object["claims"])
	case "without":
		d.absent(path, "no member ", list, object["body"])
	case "values", "claims", "identities", "passkeys", "detail", "body":
		d.members(path, want, got)
	case "events", "requests":
		d.objects(path, list, got)
	case "error", "refused":
		if code, _, _ := strings.Cut(got.(string), " "); want != code {
			d.add(path, want, got)
		}
	default:
		if want != "" && !reflect.DeepEqual(want, got) {
			d.add(path, want, got)
		}
	}
}

// members compares the expected members of an object, which must be equal.
func (d *differences) members(path string, want, got any) {
	object, ok := got.(map[string]any)
	if !ok && got != nil {
		d.add(path, want, got)
		return
	}
	expected, _ := want.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		if !reflect.DeepEqual(expected[name], object[name]) {
			d.add(schemas.MemberPath(path, name), expected[name], object[name])
		}
	}
}

// absent finds members of an object that it must lack.
func (d *differences) absent(path, what string, names []any, got any) {
	object, ok := got.(map[string]any)
	if !ok && got != nil {
		d.add(path, names, got)
	}
	for i, name := range names {
		if value, there := object[name.(string)]; there {
			d.add(itemPath(path, i), what+name.(string), value)
		}
	}
}

// objects compares lists of events or of requests: all of them in order, each by its
// expected members.
func (d *differences) objects(path string, want []any, got any) {
	list, _ := got.([]any)
	expected, received := titles(want), titles(list)
	if len(want) != len(list) || path == "events" && !slices.Equal(expected, received) {
		d.add(path, expected, received)
		return
	}
	for i := range want {
		if object, ok := want[i].(map[string]any); ok {
			d.object(itemPath(path, i), object, list[i].(map[string]any))
		}
	}
}

// titles returns how lists show events and requests: the action of an event, the target and
// path of a request. In a file an event can be just the action.
func titles(list []any) []string {
	return namesOf(list, func(item any) string {
		object, ok := item.(map[string]any)
		if !ok {
			return item.(string)
		}
		if action, ok := object["action"].(string); ok {
			return action
		}
		target, _ := object["target"].(string)
		path, _ := object["path"].(string)
		return target + " " + cmp.Or(path, "/")
	})
}
