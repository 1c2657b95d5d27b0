package flowtest

import (
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
	a, b := describeQuestion(want), describeQuestion(got)
	for _, member := range slices.Sorted(maps.Keys(a)) {
		if a[member] != b[member] {
			d.add("like", member+" "+show(a[member]), member+" "+show(b[member]))
		}
	}
}

// describeQuestion returns the distinguishing properties of a reply, by name.
func describeQuestion(r *reply) map[string]string {
	step := r.step
	if step == nil {
		step = &schemas.Step{}
	}
	face := map[string]string{
		"status": string(step.FlowStatus), "step": step.StepID, "redirectURL": step.Data.RedirectURL,
		"error":   valueOrNone(codeOf(step.Error)) + descriptionOf(step.Error),
		"refused": codeOf(r.refused), "declined": reason(r.declined),
		"inputs": show(step.Data.Inputs), "actions": show(step.Data.Actions), "fieldErrors": show(step.Data.FieldErrors),
	}
	var shapes []string
	for _, key := range slices.Sorted(maps.Keys(step.Data.AdditionalData)) {
		shapes = append(shapes, key+" "+shapeOf(step.Data.AdditionalData[key]))
	}
	face["data"] = show(shapes)
	return face
}

// shapeOf returns the structure of a text: the members of JSON objects and the structures
// of list items. It ignores the number of equal items: for an unknown name the server
// lists as many passkeys as users have, which is one or several.
func shapeOf(text string) string {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return "text"
	}
	return form(value)
}

func form(value any) string {
	switch v := value.(type) {
	case map[string]any:
		members := map[string]string{}
		for name, member := range v {
			members[name] = form(member)
		}
		return show(members)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = form(item)
		}
		slices.Sort(items)
		return show(slices.Compact(items))
	}
	return fmt.Sprintf("%T", value)
}
