package nodes

import "github.com/postern-id/postern/engine"

// optional is a member of `with`: whether the user can decline.
type optional bool

const skip = "skip"

// orSkip returns the outcomes of a kind whose nodes can be optional.
func orSkip(outcomes []engine.Outcome) []engine.Outcome {
	return append(outcomes, engine.Outcome{Name: skip, Doc: "the person declined; there is this outcome only when the node is optional"})
}

// outcomes returns the outcomes of one node: skip only if it is optional.
func (o optional) outcomes(outcomes []engine.Outcome) []engine.Outcome {
	if o {
		outcomes = append(outcomes, engine.Outcome{Name: skip, Doc: "the person declined"})
	}
	return outcomes
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
