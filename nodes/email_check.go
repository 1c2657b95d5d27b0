package nodes

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// check compares what was typed with the code that was sent.
func (o *emailOTP) check(ctx context.Context, v *engine.Visit, sent *sentCode, typed string) (*engine.Decision, error) {
	if !v.Now.Before(sent.ExpiresAt) {
		return o.ask(sent, "This code has expired. Have a new one sent.")
	}
	to, user, err := o.address(ctx, v)
	if err != nil {
		return nil, err
	}
	verify := func() (bool, error) { return user != nil && to != "" && sent.matches(o.mac(v, user, to, typed)), nil }
	right := false
	if o.deps.Guesses != nil {
		right, err = o.deps.Guesses.Guess(ctx, mailAccount(v, to), v.Subject.UserID, verify)
	} else {
		right, err = verify()
	}
	switch {
	case err != nil:
		return nil, err
	case right:
		return o.succeed(ctx, v, user)
	}
	if sent.Tries++; sent.Tries < maxTries {
		d, err := o.ask(sent, wrongCode(maxTries-sent.Tries))
		if d != nil {
			d.Failed = true
		}
		return d, err
	}
	d := engine.Leave("failure")
	d.Failed = true
	d.Notice = schemas.Errorf(schemas.Invalid, schemas.CodeInvalidCode, "too many codes were wrong, so this one is void; have a new one sent")
	return d, nil
}

// wrongCode says how often one may try on.
func wrongCode(left int) string {
	if left == 1 {
		return "This is not the code. You may try once more."
	}
	return fmt.Sprintf("This is not the code. You may try %d more times.", left)
}

// succeed leaves with the address verified, if the user's type lets users say so.
func (o *emailOTP) succeed(ctx context.Context, v *engine.Visit, user *schemas.User) (*engine.Decision, error) {
	d := engine.Leave("success")
	proved(v, d, []string{schemas.AMREmail}, schemas.ACRVouched)
	d.Proofs = []schemas.Proof{schemas.ProofOfEmail(user.Text("email"))}
	d.Changes = []schemas.Change{proof(v, "email_code.used", user.ID, nil)}
	if user.Attributes[emailVerified] == true {
		return d, nil
	}
	marked := verifiedCopy(user)
	switch err := o.deps.Types.CheckUser(ctx, marked); {
	case schemas.HasCode(err, schemas.CodeUserDoesNotFit):
		return d, nil
	case err != nil:
		return nil, err
	}
	if v.Subject.Draft != nil { // not stored yet
		subject := v.Subject
		subject.Draft = marked
		d.Subject = &subject
		return d, nil
	}
	d.Changes = append(d.Changes, schemas.VerifyEmail{UserID: user.ID, Email: user.Text("email"), At: v.Now})
	return d, nil
}
