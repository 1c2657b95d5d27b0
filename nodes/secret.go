package nodes

import (
	"context"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// secretQuestion is a node that asks for one secret.
type secretQuestion struct {
	node
	input string
}

// askFor sets the form: the field and further buttons.
func (q *secretQuestion) askFor(secret field, others ...button) {
	secret.Required = true
	for i := range others {
		others[i].event = schemas.TriggerEvent // otherwise pages insist on the secret first
	}
	q.input = secret.Identifier
	// A prompt of the flow cannot collect the input as plain text, which would be stored.
	q.collects = map[string]schemas.InputType{secret.Identifier: secret.Type}
	q.form = form{fields: []field{secret}, buttons: append([]button{{ref: submitAction, label: "Continue"}}, others...)}
}

// submitAction is the action that sends the secret.
const submitAction = "submit"

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
	return &engine.Decision{Ask: q.form.ask(faultAt(q.input, fault)...), Drop: []string{q.input}}
}

// verify asks for the secret if there is none, and otherwise decides by check within the limits on
// guesses. The limits come before the check, so that a flood of guesses does not occupy the hasher.
// If check leaves by failure, the secret is wrong; the error does not reveal what was wrong.
func (q secretQuestion) verify(ctx context.Context, v *engine.Visit, g schemas.Guess, wrong *schemas.Error, check func(secret string) (*engine.Decision, error)) (*engine.Decision, error) {
	secret := q.secret(v)
	switch {
	case secret == "" && v.Answer == nil: // on arrival a missing secret is no fault
		return q.ask(""), nil
	case secret == "":
		return q.ask("This is required."), nil
	}
	var d *engine.Decision
	_, err := q.deps.guess(ctx, g, func() (_ bool, err error) {
		d, err = check(secret)
		return err == nil && d.Outcome == successOutcome, err
	})
	if err != nil {
		return nil, err
	}
	d.Drop = []string{q.input}
	if d.Outcome == failureOutcome && d.Notice == nil {
		d.Failed, d.Notice = true, wrong
	}
	return d, nil
}

// leaveWrong leaves by failure with the reason for the audit log: reason if the run's user has the
// secret, and none if not. The reason is another one if there is no such user.
func leaveWrong(v *engine.Visit, has bool, reason, none string) *engine.Decision {
	d := engine.LeaveBy(failureOutcome)
	switch {
	case !v.Subject.Known():
		d.Reason = schemas.ReasonUnknownUser
	case !has:
		d.Reason = none
	default:
		d.Reason = reason
	}
	return d
}

// guess checks a secret within the limits on guesses.
func (d Deps) guess(ctx context.Context, g schemas.Guess, check func() (bool, error)) (bool, error) {
	if d.Guesses == nil {
		return check()
	}
	return d.Guesses.Guess(ctx, g, check)
}
