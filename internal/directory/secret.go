package directory

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strconv"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// hasSecret reports whether the client authenticates with a secret.
func hasSecret(o *schemas.OAuthProfile) bool {
	return o != nil && slices.Contains([]string{schemas.AuthMethodEither, schemas.AuthMethodBasic, schemas.AuthMethodPost}, o.TokenEndpointAuthMethod)
}

// keepFormerSecret keeps the former secret of an application, unless its tokens are revoked: then it may have leaked.
func keepFormerSecret(w *writeContext, old, a *schemas.Application) {
	if !w.revokeTokens {
		a.FormerSecretHash, a.FormerSecretExpiresAt = old.FormerSecretHash, old.FormerSecretExpiresAt
	}
}

// completeSecret sets the secret of a client that needs one: the given secret, the old one,
// or a generated one. A generated secret, and the secret of a new client, stays in the
// application to be shown.
func completeSecret(w *writeContext, old, a *schemas.Application, o *schemas.OAuthProfile) {
	was := old.OAuth()
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
			keepFormerSecret(w, old, a)
			return
		}
		if w.rotation != nil && w.rotation.overlap() > 0 {
			a.FormerSecretHash, a.FormerSecretExpiresAt = was.SecretHash, w.now.Add(w.rotation.overlap())
		}
	case was != nil && was.SecretHash != nil:
		o.SecretHash = was.SecretHash
		keepFormerSecret(w, old, a)
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

// The limits of SecretRotation.Overlap. Within the default, the instances of a client get the new secret
// one after the other.
const (
	DefaultSecretOverlap = 24 * time.Hour
	MaxSecretOverlap     = 90 * 24 * time.Hour
)

// SecretRotation is how a client gets a new secret.
type SecretRotation struct {
	// Overlap is for how many seconds the old secret works besides the new one. Nil means the default, and
	// 0 that the old one ends at once. An even older one ends in any case.
	Overlap *int64
	// RevokeTokens revokes all tokens of the application, and ends the old secret at once: a thief of
	// the secret may hold some.
	RevokeTokens bool
}

func (r *SecretRotation) overlap() time.Duration {
	switch {
	case r.RevokeTokens:
		return 0
	case r.Overlap == nil:
		return DefaultSecretOverlap
	}
	return time.Duration(*r.Overlap) * time.Second
}

func (r *SecretRotation) check(w *writeContext) {
	switch {
	case r.Overlap == nil:
	case *r.Overlap < 0 || *r.Overlap > int64(MaxSecretOverlap.Seconds()):
		w.addInvalid("overlap", "expected at most %d seconds (90 days), or 0 to end the old secret at once", int(MaxSecretOverlap.Seconds()))
	case *r.Overlap > 0 && r.RevokeTokens:
		w.addInvalid("overlap", "expected no overlap with revokeTokens: a leaked secret must end at once, or its thief gets new tokens; leave overlap out")
	}
}

// RotateSecret generates a new client secret, which the item shows. Tokens and sessions stay, unless the
// rotation revokes the tokens.
func (d *Directory) RotateSecret(ctx context.Context, c Call, applicationID string, r SecretRotation) (*Item, error) {
	return d.applications.updatePart(ctx, c, applicationID, "", func(w *writeContext, a *schemas.Application) {
		if !hasSecret(a.OAuth()) {
			w.addInvalid("", "the application has no client secret to rotate: it is not an OAuth client, or it authenticates with another method")
			return
		}
		r.check(w)
		w.action, w.rotation, w.revokeTokens = "secret_rotated", &r, r.RevokeTokens
		w.detail = map[string]string{"overlap": r.overlap().String(), "tokensRevoked": strconv.FormatBool(r.RevokeTokens)}
		a.ClientSecret = schemas.NewSecret()
	})
}

// CheckSecret compares a secret with those of the client in constant time.
func (d *Directory) CheckSecret(a *schemas.Application, secret string) bool {
	o, hash := a.OAuth(), schemas.HashSecret(secret)
	if !hasSecret(o) {
		return false
	}
	current, former := equalHash(o.SecretHash, hash), equalHash(a.FormerSecretHash, hash)
	return current || former && d.now().Before(a.FormerSecretExpiresAt)
}

// equalHash compares the hash of a secret; a client without one has no secret.
func equalHash(stored, hash []byte) bool {
	return len(stored) == sha256.Size && subtle.ConstantTimeCompare(stored, hash) == 1
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
	if old.ID == "" || w.revokeTokens || w.rotation == nil && endsClient(old, a) {
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
