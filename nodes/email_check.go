package nodes

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// check compares the entered code with the code that was sent.
func (o *emailOTP) check(ctx context.Context, v *engine.Visit, sent *sentCode, typed string) (*engine.Decision, error) {
	if !v.Now.Before(sent.ExpiresAt) {
		return o.ask(sent, "This code has expired. Have a new one sent."), nil
	}
	to, user, err := o.address(ctx, v)
	if err != nil {
		return nil, err
	}
	verify := func() (bool, error) { return user != nil && to != "" && sent.matches(o.mac(v, user, to, typed)), nil }
	right, err := o.deps.guess(ctx, mailGuess(v, to), verify)
	switch {
	case err != nil:
		return nil, err
	case right:
		return o.succeed(v, user), nil
	}
	if sent.Tries++; sent.Tries < maxTries {
		d := o.ask(sent, wrongCode(maxTries-sent.Tries))
		d.Failed = true
		return d, nil
	}
	return leaveFailed(schemas.Errorf(schemas.Invalid, schemas.CodeInvalidCode, "too many codes were wrong, so this one is void; have a new one sent")), nil
}

// mailGuess describes a guess at a mailed code. A user that the run creates has no account to lock
// yet.
func mailGuess(v *engine.Visit, address string) schemas.Guess {
	secret := schemas.MailedSecret
	if v.Subject.Draft != nil {
		secret = schemas.AddressSecret
	}
	return guessOf(v, secret, mailAccount(v, address))
}

// wrongCode states how many tries are left.
func wrongCode(left int) string {
	if left == 1 {
		return "This is not the code. You may try once more."
	}
	return fmt.Sprintf("This is not the code. You may try %d more times.", left)
}

// succeed leaves with a verified address: in the draft of a user that is not stored yet, otherwise
// with a change that checks again that the user still has the address.
func (o *emailOTP) succeed(v *engine.Visit, user *schemas.User) *engine.Decision {
	d := leaveProven(v, []string{schemas.AMREmail}, schemas.ACRVouched, schemas.ProofOfEmail(user.Text("email")),
		proof(v, "email_code.used", user.ID, nil))
	if v.Subject.Draft != nil {
		subject := v.Subject
		subject.Draft = user.With(map[string]any{schemas.EmailVerified: true})
		d.Subject = &subject
		return d
	}
	d.Changes = append(d.Changes, schemas.VerifyEmail{UserID: user.ID, Email: user.Text("email"), At: v.Now})
	return d
}
