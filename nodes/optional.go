package nodes

import "github.com/postern-id/postern/engine"

// optional says whether a person may decline what a node is for: a member of
// `with`.
type optional bool

const skip = "skip"

// orSkip are the outcomes of a kind whose nodes may be optional.
func orSkip(outcomes []engine.Outcome) []engine.Outcome {
	return append(outcomes, engine.Outcome{Name: skip, Doc: "the person declined; there is this outcome only when the node is optional"})
}

// outcomes are those of one node: there is skip only where there is skipping.
func (o optional) outcomes(outcomes []engine.Outcome) []engine.Outcome {
	if o {
		outcomes = append(outcomes, engine.Outcome{Name: skip, Doc: "the person declined"})
	}
	return outcomes
}

// buttons are what one declines by.
func (o optional) buttons() []button {
	if !o {
		return nil
	}
	return []button{{ref: skip, label: "Not now"}}
}

// isDeclined reports whether the answer, if there is one, is that the person
// declines.
func (o optional) isDeclined(a *engine.Answer) bool { return bool(o) && a != nil && a.Action == skip }
