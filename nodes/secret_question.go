package nodes

import (
	"cmp"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// The default identifiers of secret inputs.
const (
	defaultPasswordInput = "password"
	defaultCodeInput     = "otp"
	defaultRecoveryInput = "recoveryCode"
)

// secretQuestion is a form with one secret.
type secretQuestion struct {
	input string
	form  form
}

func newPasswordQuestion(input, label, autocomplete string) secretQuestion {
	return newSecretQuestion(field{
		Identifier: cmp.Or(input, defaultPasswordInput), Type: schemas.PasswordInput, Label: label, Autocomplete: autocomplete,
	})
}

// newSecretQuestion returns a form with the field and further buttons.
func newSecretQuestion(secret field, others ...button) secretQuestion {
	secret.Required = true
	for i := range others {
		others[i].event = schemas.TriggerEvent // otherwise pages insist on the secret first
	}
	return secretQuestion{input: secret.Identifier, form: form{
		fields:  []field{secret},
		buttons: append([]button{{ref: submitAction, label: "Continue"}}, others...),
	}}
}

// submitAction is the action that sends the secret.
const submitAction = "submit"

// Collects reports that the input is a secret, so that no prompt of the flow can collect it as
// plain text, which would be stored.
func (q secretQuestion) Collects() map[string]schemas.InputType {
	return map[string]schemas.InputType{q.input: q.form.fields[0].Type}
}

// UsesSecret names the input that the node verifies or sets.
func (q secretQuestion) UsesSecret() string { return q.input }

// secret returns the secret of the answer or, on arrival, the one that an earlier node of the same
// step collected; "" for none.
func (q secretQuestion) secret(v *engine.Visit) string {
	if v.Answer != nil {
		return v.Answer.Inputs[q.input]
	}
	return v.Inputs[q.input]
}

// ask asks for the secret, with the fault of the last one if any.
func (q secretQuestion) ask(fault string) *engine.Decision {
	ask := q.form.ask()
	if fault != "" {
		ask.FieldErrors = []schemas.FieldError{{Identifier: q.input, Message: fault}}
	}
	return &engine.Decision{Ask: ask, Drop: []string{q.input}}
}

// askAgain asks for a missing secret: on arrival that is no fault.
func (q secretQuestion) askAgain(v *engine.Visit) *engine.Decision {
	if v.Answer == nil {
		return q.ask("")
	}
	return q.ask("This is required.")
}

// failed leaves by failure, with a message that does not reveal what was wrong.
func (q secretQuestion) failed(words string) *engine.Decision {
	d := engine.LeaveBy("failure")
	d.Drop = []string{q.input}
	d.Failed = true
	d.Notice = schemas.Errorf(schemas.Invalid, schemas.CodeInvalidCredentials, "%s", words)
	return d
}
