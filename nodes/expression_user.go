package nodes

import (
	"context"
	"slices"

	"github.com/postern-id/postern/engine"
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
			to.Permissions = viewPermissions(held)
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
			to.KnowsBrowser = d.RecognizesBrowser != nil && d.RecognizesBrowser(ctx, to.ID, v.Now)
			return nil
		},
	}
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
