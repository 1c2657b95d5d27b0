package flowtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// compareLike looks for whatever sets a reply apart from an earlier one, but for
// what is new in every reply: tokens, challenges and ids. A person who could tell
// two replies apart would learn what they must not, such as who has an account.
func compareLike(d *differences, want, got *reply) {
	a, b := describeQuestion(want), describeQuestion(got)
	for _, member := range slices.Sorted(maps.Keys(a)) {
		if a[member] != b[member] {
			d.add("like", member+" "+show(a[member]), member+" "+show(b[member]))
		}
	}
}

// describeQuestion is what tells a reply from others, by what to call it.
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

// shapeOf is the form of a text: of JSON its members and the forms of the items of its
// lists. How many items have a form does not count: for a name that no user has, as many
// passkeys are listed as users have, which is one or several.
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
