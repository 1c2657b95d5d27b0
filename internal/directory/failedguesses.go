package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// ForgetFailedGuesses resets the count of wrong passwords and codes of a user. For an
// unknown user the error is user_not_found, Class NotFound. The caller needs the user's
// permissions, because more guesses help an attacker.
func (d *Directory) ForgetFailedGuesses(ctx context.Context, c Call, userID string) error {
	return d.changeAccount(ctx, c, userID, func(w *writeContext) error {
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
