package nodes

import (
	"fmt"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// alternatives are additional choices at a node, each with an outcome of the same name.
type alternatives []alternative

type alternative struct {
	Ref   string `json:"ref"`
	Label string `json:"label,omitempty"`
}

// alternativesProperty is the JSON Schema of the member alternatives.
const alternativesProperty = `
    "alternatives": {
      "type": "array", "minItems": 1,
      "description": "Other ways to continue. Each is an outcome with its own name.",
      "items": {
        "type": "object", "description": "An alternative.",
        "additionalProperties": false,
        "required": ["ref"],
        "properties": {
          "ref": {` + identifierSchema + `, "description": "The name of the action and of the outcome."},
          "label": {"type": "string", "minLength": 1, "description": "The label of the button. Default: the ref."}
        }
      }
    }`

// alternativeOutcome documents the outcomes of alternatives.
func alternativeOutcome() engine.Outcome {
	return engine.Outcome{Name: "<alternative>", Doc: "the user chose the alternative of this name"}
}

// addTo adds the outcomes to those of a node, and reports names that the node already uses, for
// outcomes or for actions.
func (list alternatives) addTo(outcomes []engine.Outcome, actions ...string) ([]engine.Outcome, []schemas.Problem) {
	var found []schemas.Problem
	for i, a := range list {
		if slices.Contains(actions, a.Ref) || slices.ContainsFunc(outcomes, func(o engine.Outcome) bool { return o.Name == a.Ref }) {
			found = append(found, problem(fmt.Sprintf("alternatives[%d].ref", i),
				"%q is already used at this node; choose another name", a.Ref))
		}
		outcomes = append(outcomes, engine.Outcome{Name: a.Ref, Doc: "the user chose " + a.Ref})
	}
	return outcomes, found
}

func (list alternatives) buttons() (buttons []button) {
	for _, a := range list {
		buttons = append(buttons, button{ref: a.Ref, label: a.Label})
	}
	return buttons
}

// leaveByAlternative leaves by the alternative in the answer; nil if the answer names none.
func (list alternatives) leaveByAlternative(v *engine.Visit) *engine.Decision {
	if v.Answer == nil || !slices.ContainsFunc(list, func(a alternative) bool { return a.Ref == v.Answer.Action }) {
		return nil
	}
	return engine.LeaveBy(v.Answer.Action)
}

// optional is a member of `with`: whether the user can decline.
type optional bool

const skip = "skip"

// optionalProperty is the JSON Schema of the member optional.
const optionalProperty = `
    "optional": {"type": "boolean", "default": false, "description": "Whether the user may decline. The node then has the outcome skip."}`

// outcomes adds skip to the outcomes of an optional node.
func (o optional) outcomes(outcomes []engine.Outcome) []engine.Outcome {
	if o {
		outcomes = append(outcomes, skipOutcome())
	}
	return outcomes
}

// skipOutcome documents the outcome of declining.
func skipOutcome() engine.Outcome {
	return engine.Outcome{Name: skip, Doc: "the user declined; the outcome exists only if the node is optional"}
}

// buttons returns the button for declining.
func (o optional) buttons() []button {
	if !o {
		return nil
	}
	return []button{{ref: skip, label: "Not now"}}
}

// isDeclined reports whether the answer declines; a may be nil.
func (o optional) isDeclined(a *engine.Answer) bool { return bool(o) && a != nil && a.Action == skip }
