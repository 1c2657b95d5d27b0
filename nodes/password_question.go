package nodes

import (
	"cmp"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// defaultPasswordInput is the identifier under which passwords come.
const defaultPasswordInput = "password"

// passwordQuestion is a form with one password.
type passwordQuestion struct {
	input string
	form  form
}

func newPasswordQuestion(input, label, autocomplete string) passwordQuestion {
	input = cmp.Or(input, defaultPasswordInput)
	return passwordQuestion{input: input, form: form{
		fields: []field{{
			Identifier: input, Type: schemas.PasswordInput, Label: label,
			Required: true, Autocomplete: autocomplete,
		}},
		buttons: []button{{ref: "submit", label: "Continue"}},
	}}
}

// Collects tells that the input is a password, so that no prompt of the flow
// can collect it as plain text, which would be kept.
func (q passwordQuestion) Collects() map[string]schemas.InputType {
	return map[string]schemas.InputType{q.input: schemas.PasswordInput}
}

// password returns what was answered or, on arrival, what an earlier node of
// the same step collected; "" when there is none.
func (q passwordQuestion) password(v *engine.Visit) string {
	if v.Answer != nil {
		return v.Answer.Inputs[q.input]
	}
	return v.Inputs[q.input]
}

// ask asks for the password, and says what was wrong with the last one, if
// anything was.
func (q passwordQuestion) ask(fault string) *engine.Decision {
	ask := q.form.ask()
	if fault != "" {
		ask.FieldErrors = []schemas.FieldError{{Identifier: q.input, Message: fault}}
	}
	return &engine.Decision{Ask: ask, Drop: []string{q.input}}
}
