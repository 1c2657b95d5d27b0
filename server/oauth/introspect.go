package oauth

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

const tokenParameter = "token"

// introspection is the reply of RFC 7662 §2.2.
type introspection struct {
	Active   bool     `json:"active"`
	Scope    string   `json:"scope,omitempty"`
	ClientID string   `json:"client_id,omitempty"`
	Type     string   `json:"token_type,omitempty"`
	Expires  int64    `json:"exp,omitempty"`
	IssuedAt int64    `json:"iat,omitempty"`
	Subject  string   `json:"sub,omitempty"`
	Audience []string `json:"aud,omitempty"`
	Issuer   string   `json:"iss,omitempty"`
	ID       string   `json:"jti,omitempty"`
}

// Introspect is POST /oauth2/introspect: RFC 7662. Whoever asks must
// authenticate: else anybody could try out what they found. As anybody may be a client
// where they register themselves, those for whom nobody vouches learn of tokens that
// are theirs or for them alone. Of a token that is not good nothing is told, nor of
// another client's refresh token.
func (p *Provider) Introspect(w http.ResponseWriter, r *http.Request) error {
	c, raw, err := p.shown(w, r)
	if err != nil {
		return err
	}
	if c.oauth.TokenEndpointAuthMethod == schemas.AuthMethodNone {
		return errClient(false, "a client without a secret cannot introspect tokens")
	}
	told, err := p.introspect(r.Context(), c, raw)
	if err != nil {
		return err
	}
	return writeReply(w, told)
}

func (p *Provider) introspect(ctx context.Context, c *client, raw string) (*introspection, error) {
	if _, _, ours := p.openRefresh(raw); ours {
		return p.introspectRefresh(ctx, c, raw)
	}
	claims, err := p.Authorization.Tokens.Inspect(ctx, raw)
	if schemas.HasClass(err, schemas.Unauthenticated) || err == nil && claims.Type != token.AccessType {
		return &introspection{}, nil
	}
	if err != nil {
		return nil, err
	}
	if !c.Vouched() && claims.ClientID != c.GetID() && !slices.Contains(claims.Audience, c.GetID()) {
		return &introspection{}, nil
	}
	return &introspection{
		Active: true, Scope: strings.Join(claims.Scope, " "), ClientID: claims.ClientID, Type: "Bearer", Expires: claims.Expires.Unix(),
		IssuedAt: claims.IssuedAt.Unix(), Subject: claims.Subject, Audience: claims.Audience, Issuer: p.Issuer, ID: claims.ID,
	}, nil
}

func (p *Provider) introspectRefresh(ctx context.Context, c *client, raw string) (*introspection, error) {
	f, generation, err := p.findFamily(ctx, c, raw)
	if _, refused := err.(*Error); refused || err == nil && generation != f.Generation {
		return &introspection{}, nil
	}
	if err != nil {
		return nil, err
	}
	return &introspection{
		Active: true, Scope: strings.Join(f.Scopes, " "), ClientID: f.ClientID, Expires: f.ExpiresAt.Unix(),
		IssuedAt: f.RotatedAt.Unix(), Subject: f.Grant.UserID, Issuer: p.Issuer,
	}, nil
}

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

// shown returns the client that sent a request, and the token it is about.
func (p *Provider) shown(w http.ResponseWriter, r *http.Request) (*client, string, error) {
	if err := readForm(w, r, append(clientParameters(), tokenParameter)); err != nil {
		return nil, "", err
	}
	if err := checkCredentials(r); err != nil {
		return nil, "", err
	}
	sent := &op.ClientCredentials{
		ClientID: r.PostForm.Get(clientIDParameter), ClientSecret: r.PostForm.Get(clientSecretParameter),
		ClientAssertion: r.PostForm.Get(clientAssertionParameter), ClientAssertionType: r.PostForm.Get(assertionTypeParameter),
	}
	if triedBasic(r.Header) {
		var err error
		if sent.ClientID, sent.ClientSecret, err = basicCredentials(r); err != nil {
			return nil, "", err
		}
	}
	c, err := p.authenticate(r.Context(), sent, triedBasic(r.Header))
	if err != nil {
		return nil, "", err
	}
	raw := r.PostForm.Get(tokenParameter)
	if raw == "" {
		return nil, "", errorf(codeInvalidRequest, "the parameter token is missing")
	}
	return c, raw, nil
}
