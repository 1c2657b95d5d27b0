package directory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// hasSecret reports whether the client authenticates by a secret.
func hasSecret(o *schemas.OAuthProfile) bool {
	return o != nil && slices.Contains([]string{schemas.AuthMethodEither, schemas.AuthMethodBasic, schemas.AuthMethodPost}, o.TokenEndpointAuthMethod)
}

// completeSecret gives a client that needs a secret the one that is chosen for
// it, or the one it had, or a new one. A new one, and that of a new client, is
// left in the application to be shown.
func completeSecret(w *writeContext, was *schemas.OAuthProfile, a *schemas.Application, o *schemas.OAuthProfile) {
	chosen := mergeTwice(w, "clientSecret", a.ClientSecret, o.ClientSecret)
	a.ClientSecret, o.ClientSecret = "", chosen
	if !hasSecret(o) {
		return // that one was chosen all the same is for checkSecret to tell
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

// RotateSecret gives a client a new secret, which the item shows. The one before
// is worthless from then on, and so are all tokens issued until then: whoever stole
// the secret may hold some.
func (d *Directory) RotateSecret(ctx context.Context, c Call, applicationID string) (*Item, error) {
	return d.applications.updatePart(ctx, c, applicationID, "", func(w *writeContext, a *schemas.Application) {
		if !hasSecret(a.OAuth()) {
			w.addInvalid("", "the application has no client secret to renew: it is no OAuth client, or one that authenticates by other means")
			return
		}
		w.action = "secret_rotated"
		a.ClientSecret = schemas.NewSecret()
	})
}

// CheckSecret reports whether the secret is the client's, in a time that tells
// nothing about it.
func (d *Directory) CheckSecret(a *schemas.Application, secret string) bool {
	o := a.OAuth()
	return hasSecret(o) && len(o.SecretHash) == sha256.Size && subtle.ConstantTimeCompare(o.SecretHash, schemas.HashSecret(secret)) == 1
}
