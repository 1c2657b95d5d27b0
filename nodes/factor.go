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

// keepsFactor is the outcome of kinds that enroll second factors.
func keepsFactor() engine.Outcome {
	return engine.Outcome{
		Name: keptOutcome,
		Doc:  "the user already has a second factor and has not used it in this run: nothing changes, because a stolen password must not be enough to replace it",
	}
}

// beforeEnrolling returns the decision that replaces the enrollment: the user declines, or must not
// have a new factor. nil means that the enrollment can proceed. It is checked at each step, because
// the user may have enrolled a factor elsewhere in the meantime.
func (d Deps) beforeEnrolling(ctx context.Context, v *engine.Visit, o optional) (*engine.Decision, error) {
	if o.isDeclined(v.Answer) {
		return engine.LeaveBy(skip), nil
	}
	kept, err := d.keepsFactors(ctx, v)
	if err != nil || !kept {
		return nil, err
	}
	return engine.LeaveBy(keptOutcome), nil
}

// keepsFactors reports whether the run's user has a second factor that this run must not replace or
// add to.
func (d Deps) keepsFactors(ctx context.Context, v *engine.Visit) (bool, error) {
	used := v.Authentication != nil && anyOf(v.Authentication.Methods, schemas.HeldMethods())
	if used || v.Facts.Has(engine.New) || v.Facts.Has(engine.Enrolled) {
		return false, nil
	}
	app, err := d.totpOf(ctx, v)
	if err != nil || app != nil {
		return app != nil, err
	}
	codes, err := d.Store.RecoveryCodes(ctx, v.Subject.UserID)
	return codes != nil && codes.Left > 0, err
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
