package directory

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strconv"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// hasSecret reports whether the client authenticates with a secret.
func hasSecret(o *schemas.OAuthProfile) bool {
	return o != nil && slices.Contains([]string{schemas.AuthMethodEither, schemas.AuthMethodBasic, schemas.AuthMethodPost}, o.TokenEndpointAuthMethod)
}

// completeSecret sets the secret of a client that needs one: the given secret, the old one,
// or a generated one. A generated secret, and the secret of a new client, stays in the
// application to be shown.
func completeSecret(w *writeContext, was *schemas.OAuthProfile, a *schemas.Application, o *schemas.OAuthProfile) {
	chosen := mergeTwice(w, "clientSecret", a.ClientSecret, o.ClientSecret)
	a.ClientSecret, o.ClientSecret = "", chosen
	if !hasSecret(o) {
		return // checkSecret reports a secret that is set anyway
	}
	switch {
	case chosen != "":
		o.SecretHash = schemas.HashSecret(chosen)
		if was != nil && bytes.Equal(o.SecretHash, was.SecretHash) {
			o.ClientSecret = ""
			return
		}
	case was != nil && was.SecretHash != nil:
		o.SecretHash = was.SecretHash
		return
	default:
		o.ClientSecret = schemas.NewSecret()
		o.SecretHash = schemas.HashSecret(o.ClientSecret)
	}
	a.ClientSecret = o.ClientSecret
}

func checkSecret(w *writeContext, o *schemas.OAuthProfile) {
	if o.ClientSecret != "" && !hasSecret(o) {
		w.addInvalid(inConfig("clientSecret"), "a client with the authentication %q has no secret; leave it out", o.TokenEndpointAuthMethod)
	}
}

// RotateSecret generates a new client secret, which the item shows. The old secret and all
// tokens issued so far become invalid, because a thief of the secret may hold some.
func (d *Directory) RotateSecret(ctx context.Context, c Call, applicationID string) (*Item, error) {
	return d.applications.updatePart(ctx, c, applicationID, "", func(w *writeContext, a *schemas.Application) {
		if !hasSecret(a.OAuth()) {
			w.addInvalid("", "the application has no client secret to rotate: it is not an OAuth client, or it authenticates with another method")
			return
		}
		w.action = "secret_rotated"
		a.ClientSecret = schemas.NewSecret()
	})
}

// CheckSecret compares a secret with the client's in constant time.
func (d *Directory) CheckSecret(a *schemas.Application, secret string) bool {
	o := a.OAuth()
	return hasSecret(o) && len(o.SecretHash) == sha256.Size && subtle.ConstantTimeCompare(o.SecretHash, schemas.HashSecret(secret)) == 1
}

// RevokeTokens revokes every token issued for an application: its own access tokens and
// those of users, codes, refresh tokens and assertions. The sessions of its users continue,
// so they can sign in to it again.
func (d *Directory) RevokeTokens(ctx context.Context, c Call, applicationID string) (*Item, error) {
	return d.applications.updatePart(ctx, c, applicationID, "", func(w *writeContext, _ *schemas.Application) {
		w.action, w.revokeTokens = "tokens_revoked", true
	})
}

// RevokeAllTokens revokes every token issued for any application, as RevokeTokens does, and
// returns the number of applications. The caller needs the permission system.
func (d *Directory) RevokeAllTokens(ctx context.Context, c Call) (applications int, err error) {
	err = d.transact(ctx, c, func(w *writeContext) (err error) {
		if !w.call.Permits(systemPermission) {
			return schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden,
				"revoking all tokens needs the permission %q, which you do not have", systemPermission)
		}
		if applications, err = store.RevokeAllTokens(w.tx, rand.Text(), w.now); err != nil {
			return err
		}
		w.record(schemas.Event{Action: "tokens.revoked", Detail: map[string]string{"applications": strconv.Itoa(applications)}})
		return nil
	})
	return applications, err
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
