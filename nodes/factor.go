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
// Authenticator apps and recovery codes prove something held, beside something
// known. What makes them worth anything is that who has only what is known cannot
// get one: a stolen password must not be enough to put the thief's app in the place
// of the owner's, or to be given new recovery codes. So a user who has a second
// factor gets another one only in a run that gave them the first, or in which
// they used one, or a passkey. Else the node leaves by kept, and nothing changes.
//
// To enrol proves nothing of who does. A user whom the run creates is not
// authenticated by an app alone: six digits guard an account only together with
// something else, and nobody should be left with an account that has nothing else.
// A password or a passkey of theirs does that, before or after.

const keptOutcome = "kept"

// keepsFactor is the outcome of kinds that enrol second factors.
func keepsFactor() engine.Outcome {
	return engine.Outcome{
		Name: keptOutcome,
		Doc:  "the user has a second factor already and has not used it in this run: nothing changes, else a stolen password would be enough to replace it",
	}
}

// beforeEnrolling decides what comes before a second factor is enrolled, and nil if
// it may be: whether the person declines, or must not have one. It is looked at each
// time, because they may have got one elsewhere meanwhile.
func (d Deps) beforeEnrolling(ctx context.Context, v *engine.Visit, o optional) (*engine.Decision, error) {
	if o.isDeclined(v.Answer) {
		return engine.LeaveBy(skip), nil
	}
	if kept, err := d.keepsFactors(ctx, v); err != nil || !kept {
		return nil, err
	}
	return engine.LeaveBy(keptOutcome), nil
}

// keepsFactors reports whether the run's user has a second factor that this run
// must not replace, or add to.
func (d Deps) keepsFactors(ctx context.Context, v *engine.Visit) (bool, error) {
	used := v.Authentication != nil && anyOf(v.Authentication.Methods, possessionMethods())
	if used || v.Facts.Has(engine.New) || v.Facts.Has(engine.Enrolled) {
		return false, nil
	}
	app, err := d.totpOf(ctx, v)
	if err != nil || app != nil {
		return app != nil, err
	}
	codes, err := d.Factors.RecoveryCodes(ctx, v.Subject.UserID)
	return codes != nil && codes.Left > 0, err
}

// totpOf returns the authenticator app of the run's user as it will be once this
// step is committed, nil if they have none.
func (d Deps) totpOf(ctx context.Context, v *engine.Visit) (*schemas.TOTP, error) {
	for _, change := range slices.Backward(v.Pending) {
		if c, ok := change.(schemas.SetTOTP); ok && c.TOTP.UserID == v.Subject.UserID {
			return &c.TOTP, nil
		}
	}
	return d.Factors.TOTP(ctx, v.Subject.UserID)
}

// SealTOTP makes the authenticator app of a user that has the key.
func SealTOTP(b Cipher, key totp.Key, userID string) (schemas.TOTP, error) {
	text, err := json.Marshal(key)
	if err != nil {
		return schemas.TOTP{}, err
	}
	return schemas.TOTP{UserID: userID, Secret: b.Seal(text, TOTPOwner(userID))}, nil
}

// openKey returns the key of a user's app. The key of one user's app is no other's.
func (d Deps) openKey(app *schemas.TOTP) (key totp.Key, err error) {
	text, err := d.Box.Open(app.Secret, TOTPOwner(app.UserID))
	if err != nil {
		return key, err
	}
	return key, json.Unmarshal(text, &key)
}

// TOTPOwner is what the sealed key of a user's app belongs to.
func TOTPOwner(userID string) string { return "totp " + userID }

// guessCode checks a code, unless too many were wrong. Codes beside a password are
// counted apart from passwords: to know the password must not gain guesses. A code
// that stands alone is counted by the name, together with passwords.
func (d Deps) guessCode(ctx context.Context, v *engine.Visit, check func() (bool, error)) (bool, error) {
	if d.Guesses == nil {
		return check()
	}
	g := guessOf(v, schemas.NameSecret, nameOf(v))
	if v.Authentication != nil {
		g = guessOf(v, schemas.FactorSecret, v.Subject.UserID)
	}
	return d.Guesses.Guess(ctx, g, check)
}
