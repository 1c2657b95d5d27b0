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

// BlockedSecrets returns the secrets of a user that unknown browsers cannot use, because too many
// guesses have failed. For an unknown user the error is user_not_found, Class NotFound.
func (d *Directory) BlockedSecrets(ctx context.Context, c Call, userID string) ([]schemas.BlockedSecret, error) {
	return readAccount(ctx, d, c, userID, store.BlockedSecrets)
}

func (w *writeContext) forgetFailedGuesses(userID string) error {
	n, err := store.ForgetFailedGuesses(w.tx, userID)
	if err == nil && n > 0 {
		w.recordUserEvent(userID, schemas.GuessesForgotten, schemas.ResourceRef{})
	}
	return err
}
