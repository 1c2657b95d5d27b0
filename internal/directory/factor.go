package directory

import (
	"context"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// The names of second factors in paths.
const (
	TOTPFactor          = "totp"
	RecoveryCodesFactor = "recovery-codes"
)

const codeFactorNotFound = "factor_not_found"

// Factors are the second factors of a user; nil for factors that the user lacks.
type Factors struct {
	TOTP          *schemas.TOTP
	RecoveryCodes *schemas.RecoveryCodes
}

func (f *Factors) has(factor string) bool {
	return factor == TOTPFactor && f.TOTP != nil || factor == RecoveryCodesFactor && f.RecoveryCodes != nil
}

// Factors returns the second factors of a user. For an unknown user the error is
// user_not_found, Class NotFound.
func (d *Directory) Factors(ctx context.Context, c Call, userID string) (*Factors, error) {
	return readAccount(ctx, d, c, userID, factorsOf)
}

func factorsOf(ctx context.Context, r store.Reader, userID string) (f *Factors, err error) {
	f = &Factors{}
	if f.TOTP, err = store.TOTPOf(ctx, r, userID); err != nil {
		return nil, err
	}
	f.RecoveryCodes, err = store.RecoveryCodesOf(ctx, r, userID)
	return f, err
}

// DeleteFactor deletes a second factor of a user. If the user lacks it, the error is
// factor_not_found, Class NotFound. Users must have signed in with something they hold:
// otherwise a stolen password would suffice to remove the protection against it. The error
// is second_factor_required, Class Forbidden.
func (d *Directory) DeleteFactor(ctx context.Context, c Call, userID, factor string) error {
	return d.changeAccount(ctx, c, userID, func(w *writeContext) error {
		has, err := factorsOf(w.ctx, w.tx, userID)
		if err != nil {
			return err
		}
		if !has.has(factor) {
			return schemas.Errorf(schemas.NotFound, codeFactorNotFound,
				"this user has no second factor %.64q; the user can have %s and %s", factor, TOTPFactor, RecoveryCodesFactor)
		}
		if c.is(userID) {
			if err := w.checkMayGiveUp(userID, has); err != nil {
				return err
			}
		}
		w.recordUserEvent(userID, deletions()[factor].action, schemas.ResourceRef{Type: "factor", ID: factor})
		return w.apply(deletions()[factor].change(userID, w.now))
	})
}

// SetTOTP gives the calling user an authenticator app, which replaces any earlier one. The caller
// must pass MayManageAccount. Like a passkey, the app proves no more than the sign-in that added it.
func (d *Directory) SetTOTP(ctx context.Context, c Call, app schemas.TOTP) error {
	return d.addFactor(ctx, c, app.UserID, TOTPFactor, "totp.registered", func(by schemas.Provenance, _ time.Time) schemas.Change {
		app.AddedBy = by
		return schemas.SetTOTP{TOTP: app}
	})
}

// SetRecoveryCodes gives the calling user recovery codes, which replace all earlier ones. The caller
// must pass MayManageAccount. Like a passkey, a code proves no more than the sign-in that added it.
func (d *Directory) SetRecoveryCodes(ctx context.Context, c Call, hashes [][]byte) error {
	userID := c.userID()
	return d.addFactor(ctx, c, userID, RecoveryCodesFactor, "recovery.issued", func(by schemas.Provenance, now time.Time) schemas.Change {
		return schemas.SetRecoveryCodes{UserID: userID, Hashes: hashes, At: now, AddedBy: by}
	})
}

// addFactor adds a factor to the account of the calling user.
func (d *Directory) addFactor(ctx context.Context, c Call, userID, factor, action string, change func(by schemas.Provenance, now time.Time) schemas.Change) error {
	return d.transact(ctx, c, func(w *writeContext) error {
		if !w.call.is(userID) {
			return schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden, "users set up their second factors themselves; you can only remove those of others")
		}
		if _, err := mayManage(w.ctx, w.tx, w.call, userID, w.now); err != nil {
			return err
		}
		by, err := w.provenance(userID)
		if err != nil {
			return err
		}
		w.recordUserEvent(userID, action, schemas.ResourceRef{Type: "factor", ID: factor})
		return w.apply(change(by, w.now))
	})
}

// deletion is the audit action and the change that delete a factor.
type deletion struct {
	action string
	change func(userID string, at time.Time) schemas.Change
}

func deletions() map[string]deletion {
	return map[string]deletion{
		TOTPFactor:          {"totp.deleted", func(id string, at time.Time) schemas.Change { return schemas.DeleteTOTP{UserID: id, At: at} }},
		RecoveryCodesFactor: {"recovery.deleted", func(id string, at time.Time) schemas.Change { return schemas.DeleteRecoveryCodes{UserID: id, At: at} }},
	}
}

// checkMayGiveUp returns an error if the user signed in with a password alone, or would
// have no sign-in method left.
func (w *writeContext) checkMayGiveUp(userID string, has *Factors) error {
	if err := w.call.requireHeld(); err != nil {
		return err
	}
	if has.TOTP != nil && has.RecoveryCodes != nil {
		return nil
	}
	if n, err := countLoginMethods(w.ctx, w.tx, userID); err != nil || n > 0 {
		return err
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeLastCredential,
		"this is the account's only sign-in method; register a passkey or set a password first")
}

// requireHeld returns an error unless the user signed in with something they hold.
func (c Call) requireHeld() error {
	if c.authority().IsHeld() {
		return nil
	}
	return schemas.ErrFactorRequired()
}
