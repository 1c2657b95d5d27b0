package directory

import (
	"bytes"
	"context"
	"crypto/rand"

	"github.com/postern-id/postern/schemas"
)

// RevokeTokens revokes every token issued for an application: its own access tokens and
// those of users, codes, refresh tokens and assertions. The sessions of its users continue,
// so they can sign in to it again.
func (d *Directory) RevokeTokens(ctx context.Context, c Call, applicationID string) (*Item, error) {
	return d.applications.updatePart(ctx, c, applicationID, "", func(w *writeContext, _ *schemas.Application) {
		w.action, w.revokeTokens = "tokens_revoked", true
	})
}

// completeGeneration keeps the generation of an application's tokens or starts a new one. A
// generation is never reused, so tokens of a deleted application stay revoked if another
// application gets its client id.
func completeGeneration(w *writeContext, old, a *schemas.Application) {
	a.TokenGeneration = old.TokenGeneration
	if old.ID == "" || w.revokeTokens || endsClient(old, a) {
		a.TokenGeneration = rand.Text()
	}
}

// endsClient reports whether a write removes the client id or the secret of an application.
// A party that knew the secret may hold tokens that were issued for it.
func endsClient(old, a *schemas.Application) bool {
	was, is := old.OAuth(), a.OAuth()
	switch {
	case was == nil:
		return false
	case is == nil, old.ClientID != a.ClientID:
		return true
	}
	return was.SecretHash != nil && !bytes.Equal(was.SecretHash, is.SecretHash)
}
