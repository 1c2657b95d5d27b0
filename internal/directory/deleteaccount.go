package directory

import "context"

// DeleteAccount deletes the account of the calling user, who must pass MayManageAccount. The last administrator who can sign in cannot: the error is CodeLastAdministrator,
// Class Conflict.
func (d *Directory) DeleteAccount(ctx context.Context, c Call) error {
	userID := c.userID()
	return d.changeAccount(ctx, c, userID, func(w *writeContext) error {
		own := w.call
		own.Permissions = []string{systemPermission} // users need no permission to leave
		return d.Users.Delete(w.ctx, own, userID, "")
	})
}
