package flowtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// differences are lines that say what was expected and what came.
type differences []string

func (d *differences) add(what string, want, got any) {
	*d = append(*d, fmt.Sprintf("%s: expected %v, got %v", what, want, got))
}

// compare finds everything in which a reply is not as expected.
func (e Expect) compare(step *schemas.Step, refused *schemas.Error, events []schemas.Event) differences {
	var d differences
	if code := codeOf(refused); code != e.Refused {
		d.add("refused", orNone(e.Refused), orNone(code)+descriptionOf(refused))
	}
	if step != nil {
		e.compareStep(&d, step)
		e.compareClaims(&d, step.Assertion)
	}
	var actions []string
	for _, event := range events {
		actions = append(actions, event.Action)
	}
	same(&d, "events", e.Events, actions)
	return d
}

// compareStore looks at how much there is in the store.
func (e Expect) compareStore(d *differences, users, sessions int) {
	if e.Users != nil && *e.Users != users {
		d.add("users", *e.Users, users)
	}
	if e.Sessions != nil && *e.Sessions != sessions {
		d.add("sessions", *e.Sessions, sessions)
	}
}

// compareRefusal looks at what the client is told who gets no code.
func (e Expect) compareRefusal(d *differences, refusal *schemas.Refusal) {
	code := ""
	if refusal != nil {
		code = refusal.Code
	}
	if e.Refusal != "" && e.Refusal != code {
		d.add("refusal", e.Refusal, orNone(code))
	}
}

// asked are the scopes that a step asks consent for.
func asked(step *schemas.Step) []string {
	var q schemas.ConsentQuestion
	if err := json.Unmarshal([]byte(step.Data.AdditionalData[schemas.ConsentData]), &q); err != nil {
		return nil // it asks none
	}
	scopes := make([]string, len(q.Scopes))
	for i, s := range q.Scopes {
		scopes[i] = s.Scope
	}
	return scopes
}

// compareStep looks at what the client sees.
func (e Expect) compareStep(d *differences, step *schemas.Step) {
	if e.Status != "" && e.Status != step.FlowStatus {
		d.add("status", e.Status, step.FlowStatus)
	}
	if e.Step != "" && e.Step != step.StepID {
		d.add("step", e.Step, orNone(step.StepID))
	}
	if e.RedirectURL != "" && e.RedirectURL != step.Data.RedirectURL {
		d.add("redirectURL", e.RedirectURL, orNone(step.Data.RedirectURL))
	}
	if code := codeOf(step.Error); code != e.Error {
		d.add("error", orNone(e.Error), orNone(code)+descriptionOf(step.Error))
	}
	var inputs, actions, faulty []string
	for _, in := range step.Data.Inputs {
		inputs = append(inputs, in.Identifier)
	}
	for _, a := range step.Data.Actions {
		actions = append(actions, a.Ref)
	}
	for _, f := range step.Data.FieldErrors {
		faulty = append(faulty, f.Identifier)
	}
	same(d, "inputs", e.Inputs, inputs)
	same(d, "actions", e.Actions, actions)
	same(d, "consents", e.Consents, asked(step))
	if e.FieldErrors != nil || faulty != nil {
		same(d, "fieldErrors", append([]string{}, e.FieldErrors...), faulty)
	}
	for _, key := range e.Data {
		if step.Data.AdditionalData[key] == "" {
			d.add("data", key, slices.Sorted(maps.Keys(step.Data.AdditionalData)))
		}
	}
}

// same compares two lists, unless nothing is expected.
func same(d *differences, what string, want, got []string) {
	if want != nil && !slices.Equal(want, got) {
		d.add(what, want, got)
	}
}

// compareClaims looks at what the assertion says.
func (e Expect) compareClaims(d *differences, assertion string) {
	if len(e.Claims) == 0 {
		return
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(assertion), &got); err != nil {
		d.add("claims", e.Claims, "no assertion")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(e.Claims)) {
		if !reflect.DeepEqual(e.Claims[name], got[name]) {
			d.add("claim "+name, e.Claims[name], got[name])
		}
	}
}

func codeOf(e *schemas.Error) string {
	if e == nil {
		return ""
	}
	return e.Code
}

func descriptionOf(e *schemas.Error) string {
	if e == nil {
		return ""
	}
	return " (" + e.Description.DefaultValue + ")"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// lines writes differences below each other.
func lines(d differences) string { return "\n  " + strings.Join(d, "\n  ") }
