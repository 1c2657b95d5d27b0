package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/postern-id/postern/schemas"
)

// refreshTTL is the lifetime of refresh tokens, unless the client sets one.
const refreshTTL = 30 * 24 * time.Hour

// errCode is the error for every unusable code: it reveals nothing to a caller that guesses.
func errCode() *Error {
	return errorf(codeInvalidGrant, "there is no such authorization code, or it has expired or been used, or it is another client's")
}

// exchangeCode is the grant of RFC 6749 §4.1.3: tokens for an authorization code.
func (p *Provider) exchangeCode(ctx context.Context, c *client, form url.Values) (*oidc.AccessTokenResponse, error) {
	hash := schemas.HashSecret(form.Get("code"))
	req, err := p.Store.AuthRequestByCode(ctx, hash)
	if schemas.HasCode(err, schemas.CodeAuthCodeNotFound) || err == nil && (req.ClientID != c.ClientID || req.Grant == nil || req.Grant.Generation != c.TokenGeneration) {
		return nil, errCode()
	}
	if err != nil {
		return nil, err
	}
	// All checks come before the code is used up: a stolen code that does not fit must not end the
	// sign-in of its user.
	if err := checkRedirect(req, form.Get("redirect_uri")); err != nil {
		return nil, err
	}
	if err := checkVerifier(req.CodeChallenge, form.Get("code_verifier")); err != nil {
		return nil, err
	}
	f := p.family(c, req)
	s, err := p.subject(ctx, c, f, form)
	if err != nil {
		return nil, err
	}
	// These refresh tokens outlive the session (OpenID Connect Core §11, Back-Channel Logout §2.7).
	if c.mayGrant(schemas.GrantRefreshToken) && slices.Contains(s.scope, offlineScope) {
		f.SessionID = f.ID
	}
	if err := p.redeem(ctx, c, hash, f, s.scope); err != nil {
		return nil, err
	}
	s.nonce, s.code = req.Nonce, form.Get("code")
	return p.issue(ctx, s)
}

// checkRedirect checks that the redirect URI is that of the authorization request. Without a
// challenge it is required: nothing else ties the code to the request then (RFC 6749 §4.1.3). OAuth
// 2.1 no longer has the parameter.
func checkRedirect(req *schemas.AuthRequest, sent string) error {
	if sent == "" && req.CodeChallenge != "" || sent == req.RedirectURI {
		return nil
	}
	return errorf(codeInvalidGrant, "the redirect_uri is not that of the authorization request").refusing("redirect_uri", sent)
}

// family identifies the tokens of a request.
func (p *Provider) family(c *client, req *schemas.AuthRequest) *schemas.RefreshFamily {
	now := p.now()
	ttl := refreshTTL
	if own := seconds(c.oauth.Token.RefreshToken.ValidityPeriod); own > 0 {
		ttl = own
	}
	grant := *req.Grant
	grant.Claims = req.Login.Claims
	if a := req.Approval; a != nil && a.UserID == grant.UserID {
		grant.Approved = a.Scopes
	}
	return &schemas.RefreshFamily{
		ID: req.ID, ApplicationID: req.ApplicationID, ClientID: req.ClientID, Scopes: req.Scopes, Resources: req.Resources,
		Grant: grant, SessionID: grant.SessionID, RotatedAt: now, CreatedAt: now, ExpiresAt: now.Add(ttl),
	}
}

// redeem uses the code up. If two callers redeem it, one is a thief and it is not known which, so
// the tokens of both are revoked. The scopes are those of the tokens: the user may lack a requested one.
func (p *Provider) redeem(ctx context.Context, c *client, hash []byte, f *schemas.RefreshFamily, scopes []string) error {
	issued := p.tokensIssued(ctx, c, f, schemas.GrantAuthorizationCode, scopes)
	r := schemas.Redemption{CodeHash: hash, SessionID: f.Grant.SessionID, ApplicationID: f.ApplicationID, Family: f,
		Event: &issued, At: p.now(), Revoke: p.revokeUntil(c)}
	if !c.mayGrant(schemas.GrantRefreshToken) {
		r.Family = nil
	}
	replayed, err := p.Store.RedeemCode(ctx, r)
	switch {
	case schemas.HasCode(err, schemas.CodeAuthCodeNotFound):
		return errCode()
	case err != nil:
		return err
	case replayed:
		return errors.Join(errCode(), p.recordTheft(ctx, c, f.Grant.UserID, "code"))
	}
	return nil
}

// revokeUntil is the time at which the client's newest access token will have expired.
func (p *Provider) revokeUntil(c *client) time.Time { return p.now().Add(p.accessTTL(c) + time.Minute) }

// recordTheft records the second use of a single-use value.
func (p *Provider) recordTheft(ctx context.Context, c *client, userID, what string) error {
	return p.recordByClient(ctx, c, schemas.Event{Action: "token.reused", UserID: userID, Detail: map[string]string{"used": what}})
}

// checkVerifier checks that the caller sent the authorization request. A verifier without a
// challenge means that an attacker removed the challenge: the PKCE downgrade (RFC 9700 §4.8.2).
func checkVerifier(challenge, verifier string) error {
	switch {
	case challenge == "" && verifier == "":
		return nil
	case challenge == "":
		return errorf(codeInvalidGrant, "the token request has a code_verifier, but the authorization request had no code_challenge").refusing("code_verifier", "")
	case verifier == "":
		return errorf(codeInvalidGrant, "the code_verifier is missing").refusing("code_verifier", "")
	}
	sum := sha256.Sum256([]byte(verifier))
	made := base64.RawURLEncoding.EncodeToString(sum[:])
	if len(verifier) < 43 || len(verifier) > 128 || subtle.ConstantTimeCompare([]byte(made), []byte(challenge)) != 1 {
		return errorf(codeInvalidGrant, "the code_verifier does not match the code_challenge of the authorization request").refusing("code_verifier", "")
	}
	return nil
}
