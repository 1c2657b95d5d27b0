package federation

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postern-id/postern/internal/jwtverify"
	"github.com/postern-id/postern/schemas"
)

const (
	clockSkew        = time.Minute // tolerated difference to a provider's clock
	maxSubjectLength = 255         // bytes: OpenID Connect Core §2, sub
	maxClaimLength   = 1024        // bytes: longer ones are dropped
	maxNameLength    = 200         // bytes
)

// Identity is an identity at a provider.
type Identity struct {
	// Subject is the provider's permanent identifier of the user.
	Subject string
	// Name is a display name. It proves nothing.
	Name string
	// Claims are the string claims of at most 1024 bytes, as the provider asserts them: an
	// email address among them may belong to another user.
	Claims map[string]string
	// Statement has all claims, for the mapping of the provider.
	Statement Statement
	// AuthTime is when the user authenticated at the provider, zero if unknown.
	AuthTime time.Time
}

// verify validates an ID token: OpenID Connect Core §3.1.3.7.
func (c *Client) verify(ctx context.Context, m *metadata, p *schemas.IdentityProvider, k signInState, got *tokens, now time.Time) (*Identity, error) {
	token, err := jwtverify.Parse(got.id)
	if err != nil {
		return nil, failf(CheckSignature, "the ID token: %v", err)
	}
	key, ok, err := c.keys.Key(ctx, m.keys, token, now)
	switch {
	case err != nil:
		return nil, unreachable("the provider's keys", err)
	case !ok:
		return nil, failf(CheckSignature, "the provider publishes no key, or several keys, that could have signed the ID token with %s", token.Algorithm)
	}
	var claims object
	if err := token.Claims(key, &claims); err != nil {
		return nil, failf(CheckSignature, "the ID token is not signed by the provider's key, or its claims cannot be read")
	}
	id := &Identity{Subject: claims.text("sub")}
	checks := []func() error{
		func() error { return checkAudience(claims, p) },
		func() error { return checkTimes(claims, now) },
		func() error { return checkNonce(claims, k) },
		func() error { return checkHash(claims, token.Algorithm, got.access) },
		func() (err error) { id.AuthTime, err = checkAge(claims, k, now); return err },
		func() error { return checkSubject(id.Subject) },
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return nil, err
		}
	}
	id.Claims, id.Statement.IDToken = claims.list(), Document(claims)
	id.Name = nameOf(id.Claims)
	return id, nil
}

func checkAudience(claims object, p *schemas.IdentityProvider) error {
	audience := claims.texts("aud")
	switch {
	case claims.text("iss") != p.Issuer:
		return failf(CheckIssuer, "the iss of the ID token is not the issuer")
	case !slices.Contains(audience, p.ClientID):
		return failf(CheckAudience, "the ID token is not for this client: its aud does not contain the client id")
	case len(audience) > 1 && !claims.has("azp"), claims.has("azp") && claims.text("azp") != p.ClientID:
		return failf(CheckAudience, "the ID token was issued to another client: its azp is another client, or it has several audiences and no azp")
	}
	return nil
}

func checkTimes(claims object, now time.Time) error {
	expiry, ok1 := claims.time("exp")
	issued, ok2 := claims.time("iat")
	begin, ok3 := claims.time("nbf")
	switch {
	case !ok1 || !ok2 || !ok3 || expiry.IsZero() || issued.IsZero():
		return failf(CheckTime, "the ID token has no exp or no iat, or an invalid time")
	case !now.Before(expiry.Add(clockSkew)):
		return failf(CheckTime, "the ID token has expired: compare the clocks")
	case now.Add(clockSkew).Before(issued), now.Add(clockSkew).Before(begin):
		return failf(CheckTime, "the ID token is not valid yet: compare the clocks")
	}
	return nil
}

// checkNonce makes sure that the token was issued for this sign-in. A code that an attacker
// injected into this browser yields another nonce.
func checkNonce(claims object, k signInState) error {
	if subtle.ConstantTimeCompare([]byte(claims.text("nonce")), []byte(k.Nonce)) != 1 {
		return failf(CheckNonce, "the nonce of the ID token is not that of this sign-in")
	}
	return nil
}

// checkHash compares at_hash, if present (§3.1.3.6).
func checkHash(claims object, algorithm, access string) error {
	if !claims.has("at_hash") {
		return nil
	}
	hash := sha512.New() // of ES512, PS512, RS512, and EdDSA by Ed25519
	switch {
	case strings.HasSuffix(algorithm, "256"):
		hash = sha256.New()
	case strings.HasSuffix(algorithm, "384"):
		hash = sha512.New384()
	}
	hash.Write([]byte(access))
	half := base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:hash.Size()/2])
	if subtle.ConstantTimeCompare([]byte(half), []byte(claims.text("at_hash"))) != 1 {
		return failf(CheckHash, "the at_hash of the ID token does not match the access token")
	}
	return nil
}

// checkAge returns when the user authenticated. It rejects times that are older than
// requested or in the future.
func checkAge(claims object, k signInState, now time.Time) (time.Time, error) {
	at, ok := claims.time("auth_time")
	switch {
	case !ok:
		return at, failf(CheckAge, "the auth_time of the ID token is invalid")
	case now.Add(clockSkew).Before(at): // a future time would stay young enough
		return at, failf(CheckAge, "the auth_time of the ID token is in the future: compare the clocks")
	case k.MaxAge == nil:
		return at, nil
	case at.IsZero():
		return at, failf(CheckAge, "max_age was requested, but the ID token has no auth_time")
	case now.Sub(at).Seconds() > float64(*k.MaxAge)+clockSkew.Seconds():
		return at, failf(CheckAge, "the user authenticated longer ago than max_age")
	}
	return at, nil
}

func checkSubject(subject string) error {
	if subject == "" || len(subject) > maxSubjectLength || strings.ContainsFunc(subject, func(c rune) bool {
		return c == utf8.RuneError || c > unicode.MaxASCII || unicode.IsControl(c)
	}) {
		return failf(CheckSubject, "expected the sub of the ID token to have 1 to %d printable ASCII characters", maxSubjectLength)
	}
	return nil
}

// list returns the string claims that are not too long.
func (o object) list() map[string]string {
	list := map[string]string{}
	for name := range o {
		if text := o.text(name); text != "" && len(text) <= maxClaimLength {
			list[name] = text
		}
	}
	return list
}

// nameOf returns a display name from the claims.
func nameOf(claims map[string]string) string {
	for _, name := range []string{"email", "preferred_username", "name"} {
		shown := strings.Map(func(c rune) rune {
			if c == utf8.RuneError || !unicode.IsPrint(c) {
				return -1
			}
			return c
		}, claims[name])
		if shown != "" && len(shown) <= maxNameLength {
			return shown
		}
	}
	return ""
}
