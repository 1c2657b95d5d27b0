package oauth

import (
	"context"
	"net/http"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// Revoke handles POST /oauth2/revoke: RFC 7009. An unknown, expired or revoked token is no error
// (§2.2). A token of another client is rejected (§2.1), and so is a type that cannot be revoked
// (§2.2.1).
func (p *Provider) Revoke(w http.ResponseWriter, r *http.Request) error {
	c, raw, err := p.clientAndToken(w, r)
	if err != nil {
		return err
	}
	if err := p.revoke(r.Context(), c, raw); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// revoke revokes a token. A refresh token is revoked with all tokens of its family (§2.1).
func (p *Provider) revoke(ctx context.Context, c *client, raw string) error {
	if _, _, ours := p.openRefresh(raw); ours {
		return p.revokeRefresh(ctx, c, raw)
	}
	claims, err := p.Tokens.Inspect(ctx, raw)
	switch {
	case schemas.HasClass(err, schemas.Unauthenticated):
		return p.checkRevocable(ctx, raw)
	case err != nil:
		return err
	case claims.Type == token.AssertionType:
		return errUnrevocable("an assertion")
	case claims.ClientID != c.ClientID:
		return errForeignToken()
	}
	userID := claims.Subject
	if userID == claims.ClientID {
		userID = "" // the client's own
	}
	event := schemas.Event{Action: "token.revoked", UserID: userID, Resource: schemas.ResourceRef{Type: "token", ID: claims.ID}}
	return p.recordByClient(ctx, c, event, schemas.RevokeToken{ID: claims.ID, ExpiresAt: claims.Expires})
}

func (p *Provider) revokeRefresh(ctx context.Context, c *client, raw string) error {
	f, _, err := p.liveFamily(ctx, raw)
	if _, gone := err.(*Error); gone {
		return nil
	}
	switch {
	case err != nil:
		return err
	case f.ClientID != c.ClientID:
		return errForeignToken()
	case f.Grant.Generation != c.TokenGeneration:
		return nil // revoked with all tokens of the client
	}
	event := schemas.Event{Action: "token.revoked", UserID: f.Grant.UserID, Resource: schemas.ResourceRef{Type: "refreshFamily", ID: f.ID}}
	return p.recordByClient(ctx, c, event, schemas.RevokeFamily{ID: f.ID, Until: p.revokeUntil(c)})
}

// checkRevocable rejects an ID token, which a client could otherwise believe revoked. Any other
// text that is not a live access token is ignored.
func (p *Provider) checkRevocable(ctx context.Context, raw string) error {
	_, err := p.Tokens.VerifyIDToken(ctx, raw)
	switch {
	case schemas.HasClass(err, schemas.Unauthenticated):
		return nil
	case err != nil:
		return err
	}
	return errUnrevocable("an ID token")
}

// errForeignToken rejects the token of another client: the invalid_grant of RFC 6749 §5.2.
func errForeignToken() *Error {
	return errorf(codeInvalidGrant, "the token was issued to another client: a client can revoke its own tokens only")
}

func errUnrevocable(what string) *Error {
	return errorf(codeUnsupportedTokenType, "the token is %s, which cannot be revoked: send an access token or a refresh token, or end the session", what)
}
