package oauth

import (
	"context"
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// Revoke is POST /oauth2/revoke: RFC 7009. A token that is not the client's, or is
// none, is revoked as far as the client can tell (§2.2).
func (p *Provider) Revoke(w http.ResponseWriter, r *http.Request) error {
	c, raw, err := p.shown(w, r)
	if err != nil {
		return err
	}
	if err := p.revoke(r.Context(), c, raw); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// revoke ends a token. With a refresh token all that came of it goes (§2.1).
func (p *Provider) revoke(ctx context.Context, c *client, raw string) error {
	if _, _, ours := p.openRefresh(raw); ours {
		f, _, err := p.findFamily(ctx, c, raw)
		if _, refused := err.(*Error); refused {
			return nil
		}
		if err != nil {
			return err
		}
		return p.recordRevoked(ctx, c, f.Grant.UserID, schemas.ResourceRef{Type: "refreshFamily", ID: f.ID},
			schemas.RevokeFamily{ID: f.ID, Until: p.revokeUntil(c)})
	}
	claims, err := p.Authorization.Tokens.Inspect(ctx, raw)
	if schemas.HasClass(err, schemas.Unauthenticated) || err == nil && claims.ClientID != c.GetID() {
		return nil
	}
	if err != nil {
		return err
	}
	userID := claims.Subject
	if userID == claims.ClientID {
		userID = "" // the client's own
	}
	return p.recordRevoked(ctx, c, userID, schemas.ResourceRef{Type: "token", ID: claims.ID},
		schemas.RevokeToken{ID: claims.ID, ExpiresAt: claims.Expires})
}

// recordRevoked makes a change by which a client gives up what it had.
func (p *Provider) recordRevoked(ctx context.Context, c *client, userID string, what schemas.ResourceRef, change schemas.Change) error {
	return p.Record(ctx, schemas.Event{
		ID: schemas.NewID(), At: p.now(), Action: "token.revoked", ApplicationID: c.ID, UserID: userID,
		Actor: schemas.Actor{Type: schemas.ApplicationActor, ID: c.ID, Client: c.ID}, Resource: what,
	}, change)
}
