package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/postern-id/postern/schemas"
)

// noRedirect replaces a missing redirect_uri in a token request. OAuth 2.1 no longer has that
// parameter, but op requires it.
const noRedirect = "urn:ietf:params:oauth:none"

// CodeExchange is the grant of RFC 6749 §4.1.3: tokens for an authorization code.
func (g *grants) CodeExchange(ctx context.Context, r *op.ClientRequest[oidc.AccessTokenRequest]) (*op.Response, error) {
	c, ok := r.Client.(*client)
	if !ok {
		return nil, rejectWith(ctx, fmt.Errorf("the client is a %T", r.Client))
	}
	reply, err := g.provider.exchange(ctx, c, r.Form)
	if err != nil {
		return nil, rejectWith(ctx, err)
	}
	return op.NewResponse(reply), nil
}

// errCode is the error for every unusable code: it reveals nothing to a caller that guesses.
func errCode() *Error {
	return errorf(codeInvalidGrant, "there is no such authorization code, or it has expired or been used, or it is another client's")
}

func (p *Provider) exchange(ctx context.Context, c *client, form url.Values) (*oidc.AccessTokenResponse, error) {
	hash := schemas.HashSecret(form.Get(codeParameter))
	req, err := p.Authorization.Requests.AuthRequestByCode(ctx, hash)
	if schemas.HasCode(err, schemas.CodeAuthCodeNotFound) || err == nil && (req.ClientID != c.GetID() || req.Grant == nil || req.Grant.Generation != c.TokenGeneration) {
		return nil, errCode()
	}
	if err != nil {
		return nil, err
	}
	// All checks come before the code is used up: a stolen code that does not fit must not end the
	// sign-in of its user.
	if err := checkRedirect(req, form.Get(redirectParameter)); err != nil {
		return nil, err
	}
	if err := checkVerifier(req.CodeChallenge, form.Get(verifierParameter)); err != nil {
		return nil, err
	}
	f := p.family(c, req)
	s, err := p.subject(ctx, c, f, form)
	if err != nil {
		return nil, err
	}
	if err := p.redeem(ctx, c, hash, f); err != nil {
		return nil, err
	}
	s.nonce, s.code = req.Nonce, form.Get(codeParameter)
	return p.issue(ctx, s)
}

// checkRedirect checks that the redirect URI is that of the authorization request. Without a
// challenge it is required: nothing else ties the code to the request then (RFC 6749 §4.1.3).
func checkRedirect(req *schemas.AuthRequest, sent string) error {
	if sent == noRedirect && req.CodeChallenge != "" || sent == req.RedirectURI {
		return nil
	}
	return errorf(codeInvalidGrant, "the redirect_uri is not that of the authorization request")
}

// family identifies the tokens of a request.
func (p *Provider) family(c *client, req *schemas.AuthRequest) *schemas.RefreshFamily {
	now := p.now()
	ttl := refreshTTL
	if own := seconds(c.oauth.Token.RefreshToken.ValidityPeriod); own > 0 {
		ttl = own
	}
	grant := *req.Grant
	if a := req.Approval; a != nil && a.UserID == grant.UserID {
		grant.Approved = a.Scopes
	}
	return &schemas.RefreshFamily{
		ID: req.ID, ApplicationID: req.ApplicationID, ClientID: req.ClientID, Scopes: req.Scopes, Resources: req.Resources,
		Grant: grant, RotatedAt: now, CreatedAt: now, ExpiresAt: now.Add(ttl),
	}
}

// redeem uses the code up. If two callers redeem it, one is a thief and it is not known which, so
// the tokens of both are revoked.
func (p *Provider) redeem(ctx context.Context, c *client, hash []byte, f *schemas.RefreshFamily) error {
	kept := f
	if !c.mayGrant(schemas.GrantRefreshToken) {
		kept = nil
	}
	now := p.now()
	replayed, err := p.Authorization.Requests.RedeemCode(ctx, hash, kept, now, p.revokeUntil(c))
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
	return p.Record(ctx, schemas.Event{
		ID: schemas.NewID(), At: p.now(), Action: "token.reused", ApplicationID: c.ID, UserID: userID,
		Actor:  schemas.Actor{Type: schemas.ApplicationActor, ID: c.ID, Client: c.ID},
		Detail: map[string]string{"used": what},
	})
}
