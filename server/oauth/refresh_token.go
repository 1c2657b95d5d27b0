package oauth

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/postern-id/postern/schemas"
)

// lostReplyWindow is how long a used refresh token can be used again, because the reply was lost.
const lostReplyWindow = 10 * time.Second

// errRefresh is the error for every unusable refresh token.
func errRefresh() *Error {
	return errorf(codeInvalidGrant, "there is no such refresh token, or it has expired, been used or been revoked, or it is another client's")
}

// refresh is the grant of RFC 6749 §6. A token can be used once, and the reply contains the next.
func (p *Provider) refresh(ctx context.Context, c *client, form url.Values) (*oidc.AccessTokenResponse, error) {
	f, generation, err := p.findFamily(ctx, c, form.Get(refreshParameter))
	if err != nil {
		return nil, err
	}
	// As with a code, a request that fails uses nothing up.
	asked, err := narrowedScope(f.Scopes, form.Get(scopeParameter))
	if err != nil {
		return nil, err
	}
	narrow := *f
	narrow.Scopes = asked
	s, err := p.subject(ctx, c, &narrow, form)
	if err != nil {
		return nil, err
	}
	if err := p.rotate(ctx, c, f, generation); err != nil {
		return nil, err
	}
	s.family.Generation = generation + 1
	return p.issue(ctx, s)
}

// findFamily returns the family of a refresh token of the client.
func (p *Provider) findFamily(ctx context.Context, c *client, raw string) (*schemas.RefreshFamily, int, error) {
	f, generation, err := p.liveFamily(ctx, raw)
	if err == nil && (f.ClientID != c.ClientID || f.Grant.Generation != c.TokenGeneration) {
		return nil, 0, errRefresh()
	}
	return f, generation, err
}

// liveFamily returns the family of a refresh token of any client. It returns errRefresh if there is
// none or it has expired.
func (p *Provider) liveFamily(ctx context.Context, raw string) (*schemas.RefreshFamily, int, error) {
	id, generation, ok := p.openRefresh(raw)
	if !ok {
		return nil, 0, errRefresh()
	}
	f, err := p.Store.RefreshFamily(ctx, id)
	if err != nil && !schemas.HasCode(err, schemas.CodeRefreshNotFound) {
		return nil, 0, err
	}
	if err != nil || !p.now().Before(f.ExpiresAt) {
		return nil, 0, errRefresh()
	}
	return f, generation, nil
}

func (p *Provider) rotate(ctx context.Context, c *client, f *schemas.RefreshFamily, generation int) error {
	reused, err := p.Store.RotateRefresh(ctx, schemas.Rotation{
		ID: f.ID, Generation: generation, At: p.now(), Window: lostReplyWindow, Revoke: p.revokeUntil(c),
	})
	switch {
	case schemas.HasCode(err, schemas.CodeRefreshNotFound):
		return errRefresh()
	case err != nil:
		return err
	case reused:
		return errors.Join(errRefresh(), p.recordTheft(ctx, c, f.Grant.UserID, "refresh_token"))
	}
	return nil
}

// narrowedScope returns the requested scopes among the granted ones.
func narrowedScope(granted []string, asked string) ([]string, error) {
	if asked == "" {
		return granted, nil
	}
	scopes, err := parseScope(asked)
	if err != nil {
		return nil, err
	}
	for _, scope := range scopes {
		if !slices.Contains(granted, scope) {
			return nil, errorf(codeInvalidScope, "the scope %.100s was not granted before: leave scope out for all that was", scope)
		}
	}
	return scopes, nil
}
