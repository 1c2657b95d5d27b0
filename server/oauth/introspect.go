package oauth

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

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
	ACR      string   `json:"acr,omitempty"`       // RFC 9470 §6.2
	AuthTime int64    `json:"auth_time,omitempty"` // RFC 9470 §6.2
}

// Introspect handles POST /oauth2/introspect: RFC 7662. The client must authenticate, and the reply
// describes only tokens that concern it. Any other token is inactive, like an invalid one (§4): a
// client must not learn from a found token who signed in to another client, and what that client
// may do.
func (p *Provider) Introspect(w http.ResponseWriter, r *http.Request) error {
	c, raw, err := p.clientAndToken(w, r)
	if err != nil {
		return err
	}
	if c.isPublic() {
		return errClient(false, "a client without a secret cannot introspect tokens")
	}
	reported, err := p.introspect(r.Context(), c, raw)
	if err != nil {
		return err
	}
	return writeReply(w, reported)
}

func (p *Provider) introspect(ctx context.Context, c *client, raw string) (*introspection, error) {
	if _, _, ours := p.openRefresh(raw); ours {
		return p.introspectRefresh(ctx, c, raw)
	}
	claims, err := p.Tokens.Inspect(ctx, raw)
	if schemas.HasClass(err, schemas.Unauthenticated) || err == nil && claims.Type != token.AccessType {
		return &introspection{}, nil
	}
	if err != nil {
		return nil, err
	}
	if concerned, err := p.mayIntrospect(ctx, c, claims); err != nil || !concerned {
		return &introspection{}, err
	}
	reported := &introspection{
		Active: true, Scope: strings.Join(claims.Scope, " "), ClientID: claims.ClientID, Type: "Bearer", Expires: claims.Expires.Unix(),
		IssuedAt: claims.IssuedAt.Unix(), Subject: claims.Subject, Audience: claims.Audience, Issuer: p.Issuer, ID: claims.ID, ACR: claims.ACR,
	}
	if !claims.AuthTime.IsZero() {
		reported.AuthTime = claims.AuthTime.Unix()
	}
	return reported, nil
}

// mayIntrospect reports whether a token was issued to the client, is meant for the client, or for a
// resource server that the client is.
func (p *Provider) mayIntrospect(ctx context.Context, c *client, claims *token.Claims) (bool, error) {
	if claims.ClientID == c.ClientID || slices.Contains(claims.Audience, c.ClientID) {
		return true, nil
	}
	if !c.IsTrusted() {
		return false, nil
	}
	for _, audience := range claims.Audience {
		if is, err := p.Clients.IsResourceServer(ctx, c.Application, audience); err != nil || is {
			return is, err
		}
	}
	return false, nil
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

// clientAndToken returns the client of a request, and the token it is about.
func (p *Provider) clientAndToken(w http.ResponseWriter, r *http.Request) (*client, string, error) {
	if err := readForm(w, r, append(clientParameters(), "token")); err != nil {
		return nil, "", err
	}
	c, err := p.authenticateClient(r)
	if err != nil {
		return nil, "", err
	}
	raw := r.PostForm.Get("token")
	if raw == "" {
		return nil, "", errorf(codeInvalidRequest, "the parameter token is missing")
	}
	return c, raw, nil
}
