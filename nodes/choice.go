package nodes

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// alternatives are additional choices at a node. Each has an outcome of the same name, or ends the
// run with an error for the client.
type alternatives []alternative

type alternative struct {
	Ref   string `json:"ref" is:"identifier" doc:"The name of the action and of the outcome."`
	Label string `json:"label,omitempty" min:"1" doc:"The label of the button. Default: the ref."`
	Error string `json:"error,omitempty" enum:"access_denied,login_required,unmet_authentication_requirements" doc:"Ends the run without a sign-in, and returns this OAuth error to the client of the authorization request. The alternative is then no outcome."`
}

// tag describes the member alternatives.
func (alternatives) tag() reflect.StructTag {
	return `min:"1" doc:"Other ways to continue. Each is an outcome with its own name, or ends the run with an error." item.doc:"An alternative."`
}

// alternativeOutcome documents the outcomes of alternatives.
func alternativeOutcome() engine.Outcome {
	return engine.On("<alternative>", engine.NoEffect(), engine.Outcome{Doc: "the user chose the alternative of this name"})
}

// addTo adds the outcomes to those of a node, and reports names that the node already uses, for
// outcomes or for actions.
func (list alternatives) addTo(outcomes []engine.Outcome, actions ...string) ([]engine.Outcome, []schemas.Problem) {
	var found []schemas.Problem
	for i, a := range list {
		if slices.Contains(actions, a.Ref) || slices.ContainsFunc(outcomes, func(o engine.Outcome) bool { return o.Name() == a.Ref }) {
			found = append(found, problem(fmt.Sprintf("alternatives[%d].ref", i),
				"%q is already used at this node; choose another name", a.Ref))
		}
		if a.Error == "" {
			outcomes = append(outcomes, engine.On(a.Ref, engine.NoEffect(), engine.Outcome{Doc: "the user chose " + a.Ref}))
		}
	}
	return outcomes, found
}

func (list alternatives) buttons() (buttons []button) {
	for _, a := range list {
		buttons = append(buttons, button{ref: a.Ref, label: a.Label})
	}
	return buttons
}

// leaveByAlternative leaves by the alternative in the answer, or ends the run; nil if the answer names
// none.
func (d Deps) leaveByAlternative(v *engine.Visit, list alternatives) *engine.Decision {
	if v.Answer == nil {
		return nil
	}
	i := slices.IndexFunc(list, func(a alternative) bool { return a.Ref == v.Answer.Action })
	switch {
	case i < 0:
		return nil
	case list[i].Error == "":
		return engine.LeaveBy(list[i].Ref)
	}
	return d.cancel(v, list[i].Error)
}

// cancel ends a run because the user chose to. The client of its authorization request gets the error.
func (d Deps) cancel(v *engine.Visit, code string) *engine.Decision {
	why := schemas.Errorf(schemas.Forbidden, schemas.CodeCanceled, "you canceled the sign-in; start again to sign in")
	if v.AuthRequestID == "" {
		return &engine.Decision{Fail: why}
	}
	return d.refuse(v, schemas.Refusal{Code: code, Description: "the user canceled the sign-in"}, why,
		event(v, "user.sign_in_canceled", v.Subject.UserID, map[string]string{"error": code}))
}

// optional is a member of `with`: whether the user can decline.
type optional bool

const skip = "skip"

// tag describes the member optional.
func (optional) tag() reflect.StructTag {
	return `default:"false" doc:"Whether the user may decline. The node then has the outcome skip."`
}

// outcomes adds skip to the outcomes of an optional node.
func (o optional) outcomes(outcomes []engine.Outcome) []engine.Outcome {
	if o {
		outcomes = append(outcomes, skipOutcome())
	}
	return outcomes
}

// skipOutcome documents the outcome of declining.
func skipOutcome() engine.Outcome {
	return engine.On(skip, engine.NoEffect(), engine.Outcome{Doc: "the user declined; the outcome exists only if the node is optional"})
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
