package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// ForgetFailedGuesses lets passwords and codes of a user be tried again after too many
// were wrong. An unknown user is user_not_found, Class NotFound. The caller needs the
// permissions of the user: more guesses at an account are worth something to whoever
// wants to get in.
func (d *Directory) ForgetFailedGuesses(ctx context.Context, c Call, userID string) error {
	return d.transact(ctx, c, func(w *writeContext) error {
		if err := mayManage(w.ctx, w.tx, w.call, userID, w.now); err != nil {
			return err
		}
		return w.forgetFailedGuesses(userID)
	})
}

func (w *writeContext) forgetFailedGuesses(userID string) error {
	n, err := store.ForgetFailedGuesses(w.tx, userID)
	if err == nil && n > 0 {
		w.recordUserEvent(userID, "guesses.forgotten", schemas.ResourceRef{})
	}
	return err
}
