package directory

import "context"

// DeleteAccount deletes the account of the calling user, who must have signed in recently. A user
// with a second factor must have signed in with it or with a passkey: otherwise a stolen password
// would suffice. The last administrator who can sign in cannot: the error is CodeLastAdministrator,
// Class Conflict.
func (d *Directory) DeleteAccount(ctx context.Context, c Call) error {
	userID := c.userID()
	return d.changeAccount(ctx, c, userID, func(w *writeContext) error {
		has, err := factorsOf(w.ctx, w.tx, userID)
		if err != nil {
			return err
		}
		if has.TOTP != nil || has.RecoveryCodes != nil && has.RecoveryCodes.Left > 0 {
			if err := w.call.requireHeld(); err != nil {
				return err
			}
		}
		own := w.call
		own.Permissions = []string{systemPermission} // users need no permission to leave
		return d.Users.Delete(w.ctx, own, userID, "")
	})
}
