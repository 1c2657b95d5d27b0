package flowtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// compareLike compares a reply with an earlier one, except for values that are new in
// every reply: tokens, challenges and IDs. A caller that can distinguish the replies could
// find out, for example, which accounts exist.
func compareLike(d *differences, want, got *reply) {
	a, b := want.appearance(), got.appearance()
	for _, member := range slices.Sorted(maps.Keys(a)) {
		if a[member] != b[member] {
			d.add("like", member+" "+a[member], member+" "+b[member])
		}
	}
}

// appearance returns the distinguishing properties of a reply, by name.
func (r *reply) appearance() map[string]string {
	data := cmp.Or(r.step, &schemas.Step{}).Data
	all := map[string]string{"inputs": show(data.Inputs), "actions": show(data.Actions), "fieldErrors": show(data.FieldErrors)}
	for _, name := range []string{"status", "step", "redirectURL", "error", "refused", "declined"} {
		all[name] = show(r.members[name])
	}
	structures := map[string]any{}
	for key, text := range data.AdditionalData {
		structures[key] = structureOf(text)
	}
	all["data"] = show(structures)
	return all
}

// structureOf returns the structure of a text: the members of JSON objects and the structures
// of list items. It ignores the number of equal items: for an unknown name the server
// lists as many passkeys as users have, which is one or several.
func structureOf(text string) any {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return "text"
	}
	return form(value)
}

func form(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = form(member)
		}
		return v
	case []any:
		items := namesOf(v, func(item any) string { return show(form(item)) })
		slices.Sort(items)
		return slices.Compact(items)
	}
	return fmt.Sprintf("%T", value)
}
