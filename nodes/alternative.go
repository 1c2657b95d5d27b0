package nodes

import (
	"fmt"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// alternatives are further choices at a node, each with an outcome of its own name.
type alternatives []alternative

type alternative struct {
	Ref   string `json:"ref"`
	Label string `json:"label,omitempty"`
}

// alternativesSchema is the JSON Schema of alternatives.
const alternativesSchema = `{
      "type": "array", "minItems": 1,
      "description": "Other ways to go on, each an outcome of its own name.",
      "items": {
        "type": "object", "description": "One other way.",
        "additionalProperties": false,
        "required": ["ref"],
        "properties": {
          "ref": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_.-]{0,63}$", "x-expect": "a letter, then up to 63 letters, digits, dots, dashes or underscores", "description": "The name of the action and of the outcome."},
          "label": {"type": "string", "minLength": 1, "description": "What the button says; by default the ref."}
        }
      }
    }`

// alternativeOutcome documents the outcomes of alternatives.
func alternativeOutcome() engine.Outcome {
	return engine.Outcome{Name: "<alternative>", Doc: "the person chose the alternative of this name"}
}

// check reports names that the node already uses for something else.
func (list alternatives) check(used ...string) (found []schemas.Problem) {
	for i, a := range list {
		if slices.Contains(used, a.Ref) {
			found = append(found, problem(fmt.Sprintf("alternatives[%d].ref", i),
				"%q is the name of something else at this node; choose another", a.Ref))
		}
		used = append(used, a.Ref)
	}
	return found
}

func (list alternatives) buttons() (buttons []button) {
	for _, a := range list {
		buttons = append(buttons, button{ref: a.Ref, label: a.Label})
	}
	return buttons
}

func (list alternatives) outcomes() (outcomes []engine.Outcome) {
	for _, a := range list {
		outcomes = append(outcomes, engine.Outcome{Name: a.Ref, Doc: "the person chose " + a.Ref})
	}
	return outcomes
}

// leaveByAlternative leaves by the alternative in the answer; nil if the answer names none.
func (list alternatives) leaveByAlternative(v *engine.Visit) *engine.Decision {
	if v.Answer == nil || !slices.ContainsFunc(list, func(a alternative) bool { return a.Ref == v.Answer.Action }) {
		return nil
	}
	return engine.LeaveBy(v.Answer.Action)
}
