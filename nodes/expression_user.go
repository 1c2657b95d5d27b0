package nodes

import (
	"context"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/expr"
	"github.com/postern-id/postern/schemas"
)

// userLoad reads one member of user from the store, as it will be after this step commits.
type userLoad func(ctx context.Context, d Deps, v *engine.Visit, to *userView) error

// userLoads returns how each member is read that takes a query of its own. Nothing is cached: a role
// that was removed a moment ago must not count.
func userLoads() map[string]userLoad {
	return map[string]userLoad{
		"groups": func(ctx context.Context, d Deps, _ *engine.Visit, to *userView) (err error) {
			to.Groups, err = d.Store.GroupNames(ctx, to.ID)
			return err
		},
		"roles": func(ctx context.Context, d Deps, _ *engine.Visit, to *userView) (err error) {
			to.Roles, err = d.Store.RoleNames(ctx, to.ID)
			return err
		},
		"permissions": func(ctx context.Context, d Deps, _ *engine.Visit, to *userView) error {
			held, err := d.Store.Permissions(ctx, to.ID)
			to.Permissions = expr.ViewPermissions(held)
			return err
		},
		"hasPasskey": func(ctx context.Context, d Deps, v *engine.Visit, to *userView) error {
			passkeys, err := d.passkeysOf(ctx, v, to.ID)
			to.HasPasskey = len(passkeys) > 0
			return err
		},
		"hasPassword": func(ctx context.Context, d Deps, v *engine.Visit, to *userView) error {
			password, err := d.passwordOf(ctx, v, to.ID)
			to.HasPassword = password.Hash != ""
			return err
		},
		"hasTotp": func(ctx context.Context, d Deps, v *engine.Visit, to *userView) error {
			app, err := d.totpOf(ctx, v)
			to.HasTOTP = app != nil
			return err
		},
		"hasRecoveryCodes": func(ctx context.Context, d Deps, v *engine.Visit, to *userView) (err error) {
			to.HasRecoveryCodes, err = d.hasRecoveryCodes(ctx, v, to.ID)
			return err
		},
		"hasIdentity": func(ctx context.Context, d Deps, v *engine.Visit, to *userView) (err error) {
			to.HasIdentity, err = d.hasIdentity(ctx, v, to.ID)
			return err
		},
		"knowsBrowser": func(ctx context.Context, d Deps, v *engine.Visit, to *userView) error {
			recognizes := d.browserOf(ctx, v, to.ID)
			to.KnowsBrowser = recognizes(schemas.ACRMultiFactor) || recognizes(schemas.ACRPhishingResistant)
			if to.KnowsBrowser || !recognizes(schemas.ACRVouched) {
				return nil
			}
			strong, err := d.hasStrongerThanPassword(ctx, v, to.ID)
			to.KnowsBrowser = !strong
			return err
		},
		knowsBrowserFor: func(ctx context.Context, d Deps, v *engine.Visit, to *userView) error {
			recognizes := d.browserOf(ctx, v, to.ID)
			for _, name := range schemas.KnownFor() {
				if strength, _ := schemas.ParseKnownFor(name); recognizes(strength) {
					to.knownFor = append(to.knownFor, strength)
				}
			}
			return nil
		},
	}
}

// browserOf returns the function that reports whether the browser is known to a user for a strength.
func (d Deps) browserOf(ctx context.Context, v *engine.Visit, userID string) func(strength string) bool {
	return func(strength string) bool {
		return d.RecognizesBrowser != nil && d.RecognizesBrowser(ctx, userID, strength, v.Now)
	}
}

// hasStrongerThanPassword reports whether a user can prove more than a password, after this step
// commits: with a passkey, an authenticator app or a recovery code.
func (d Deps) hasStrongerThanPassword(ctx context.Context, v *engine.Visit, userID string) (bool, error) {
	passkeys, err := d.passkeysOf(ctx, v, userID)
	if err != nil || len(passkeys) > 0 {
		return len(passkeys) > 0, err
	}
	app, err := d.totpOf(ctx, v)
	if err != nil || app != nil {
		return app != nil, err
	}
	return d.hasRecoveryCodes(ctx, v, userID)
}

// hasRecoveryCodes reports whether a user has unused recovery codes after this step commits.
func (d Deps) hasRecoveryCodes(ctx context.Context, v *engine.Visit, userID string) (bool, error) {
	used := 0
	for _, change := range slices.Backward(v.Pending) {
		switch c := change.(type) {
		case schemas.SetRecoveryCodes:
			if c.UserID == userID {
				return len(c.Hashes) > used, nil
			}
		case schemas.UseRecoveryCode:
			if c.UserID == userID {
				used++
			}
		}
	}
	codes, err := d.Store.RecoveryCodes(ctx, userID)
	return codes != nil && codes.Left > used, err
}

// hasIdentity reports whether a user has an identity at an identity provider after this step
// commits.
func (d Deps) hasIdentity(ctx context.Context, v *engine.Visit, userID string) (bool, error) {
	for _, change := range v.Pending {
		if c, ok := change.(schemas.LinkIdentity); ok && c.Identity.UserID == userID {
			return true, nil
		}
	}
	identities, err := d.Store.UserIdentities(ctx, userID)
	return len(identities) > 0, err
}
