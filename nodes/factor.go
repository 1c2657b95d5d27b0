package nodes

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// Second factors
//
// Authenticator apps and recovery codes prove something held, in addition to something known. They
// are worthless if an attacker who has only the password can obtain one: a stolen password must not
// be enough to replace the user's app or to get new recovery codes. So a user with a second factor
// can add another one only in a run that created the user's first factor, or that used a second
// factor or a passkey. Otherwise the node leaves by kept, and nothing changes.
//
// Enrolling does not authenticate. A user that the run creates is not authenticated by an app
// alone: six digits protect an account only together with something else, and no account should
// depend on them alone. A password or a passkey authenticates the new user, before or after.

const keptOutcome = "kept"

// keepsFactor is the outcome of kinds that enroll second factors, of a user who has one.
func keepsFactor(has engine.Item) engine.Outcome {
	return engine.On(keptOutcome, engine.Effect{Given: []engine.Item{has}}, engine.Outcome{
		Doc: "the user already has a second factor and has not used it in this run: nothing changes, because a stolen password must not be enough to replace it",
	})
}

// beforeEnrolling returns the decision that replaces the enrollment: the user declines, or this run must
// not add a factor. nil means that the enrollment can proceed. It is checked at each step, because
// the user may have enrolled a factor elsewhere in the meantime.
func (d Deps) beforeEnrolling(ctx context.Context, v *engine.Visit, o optional) (*engine.Decision, error) {
	if o.isDeclined(v.Answer) {
		return engine.LeaveBy(skip), nil
	}
	refused, err := d.refuseChange(ctx, v, false)
	switch {
	case refused == nil || err != nil:
		return nil, err
	case refused.Code == schemas.CodeFactorRequired:
		return engine.LeaveBy(keptOutcome), nil
	}
	return o.refuse(refused), nil
}

// refuseChange returns why this run may not change how its user signs in, or where the user is reached;
// nil if it may: see schemas.RequireAuthority. The store checks the same when the change is committed. A
// node checks it first at each step, so that the user is not asked for an answer that the store then rejects.
func (d Deps) refuseChange(ctx context.Context, v *engine.Visit, addsPasskey bool) (*schemas.Error, error) {
	if v.Subject.Draft != nil {
		return nil, nil // the user does not exist in the store yet
	}
	account, err := d.Store.Protection(ctx, v.Subject.UserID)
	if err != nil {
		return nil, err
	}
	for _, change := range v.Pending {
		c, adds := change.(schemas.SetTOTP)
		account.SecondFactor = account.SecondFactor || adds && c.TOTP.UserID == v.Subject.UserID
	}
	by := v.Authority()
	by.Enrolment = by.Enrolment && addsPasskey
	if refused := (schemas.RequireAuthority{UserID: v.Subject.UserID, By: by, At: v.Now}).Check(account, account); refused != nil {
		return schemas.AsError(refused), nil
	}
	return nil, nil
}

// refuse is the decision of a node whose change is refused: the run continues without it, or ends.
func (o optional) refuse(why *schemas.Error) *engine.Decision {
	if o {
		return engine.LeaveBy(skip)
	}
	return &engine.Decision{Fail: why}
}

// totpOf returns the authenticator app that the run's user will have after this step commits; nil
// for none.
func (d Deps) totpOf(ctx context.Context, v *engine.Visit) (*schemas.TOTP, error) {
	for _, change := range slices.Backward(v.Pending) {
		if c, ok := change.(schemas.SetTOTP); ok && c.TOTP.UserID == v.Subject.UserID {
			return &c.TOTP, nil
		}
	}
	return d.Store.TOTP(ctx, v.Subject.UserID)
}

// SealTOTP creates the authenticator app of a user with the sealed key.
func SealTOTP(b Cipher, key totp.Key, userID string) schemas.TOTP {
	return schemas.TOTP{UserID: userID, Secret: b.Seal(must(json.Marshal(key)), TOTPOwner(userID))}
}

// openKey opens the key of a user's app. A sealed key opens only for its user.
func (d Deps) openKey(app *schemas.TOTP) (key totp.Key, err error) {
	text, err := d.Box.Open(app.Secret, TOTPOwner(app.UserID))
	if err != nil {
		return key, err
	}
	return key, json.Unmarshal(text, &key)
}

// TOTPOwner is the associated data of a user's sealed key.
func TOTPOwner(userID string) string { return "totp " + userID }
