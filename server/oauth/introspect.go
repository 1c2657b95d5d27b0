package oauth

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/claims"
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
	Username string   `json:"username,omitempty"`
	Audience []string `json:"aud,omitempty"`
	Issuer   string   `json:"iss,omitempty"`
	ID       string   `json:"jti,omitempty"`
	ACR      string   `json:"acr,omitempty"`       // RFC 9470 §6.2
	AuthTime int64    `json:"auth_time,omitempty"` // RFC 9470 §6.2

	claims map[string]any // about the user
}

// MarshalJSON adds the claims. They replace no member.
func (i introspection) MarshalJSON() ([]byte, error) {
	type plain introspection
	text, err := json.Marshal(plain(i))
	if err != nil || len(i.claims) == 0 {
		return text, err
	}
	members := map[string]any{}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	for name, value := range i.claims {
		if _, taken := members[name]; !taken {
			members[name] = value
		}
	}
	return json.Marshal(members)
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
	found, err := p.Tokens.Inspect(ctx, raw)
	if schemas.HasClass(err, schemas.Unauthenticated) || err == nil && found.Type != token.AccessType {
		return &introspection{}, nil
	}
	if err != nil {
		return nil, err
	}
	if concerned, err := p.mayIntrospect(ctx, c, found); err != nil || !concerned {
		return &introspection{}, err
	}
	reported := &introspection{
		Active: true, Scope: strings.Join(found.Scope, " "), ClientID: found.ClientID, Type: "Bearer", Expires: found.Expires.Unix(),
		IssuedAt: found.IssuedAt.Unix(), Subject: found.Subject, Audience: found.Audience, Issuer: p.Issuer, ID: found.ID, ACR: found.ACR,
	}
	if !found.AuthTime.IsZero() {
		reported.AuthTime = found.AuthTime.Unix()
	}
	if found.Subject != found.ClientID {
		if reported.Username, err = p.username(ctx, found.Subject, found.Scope); err != nil {
			return nil, err
		}
	}
	return reported, p.addClaims(ctx, c, found, reported)
}

// addClaims adds the claims about the user of an access token that the client of the token declares for
// introspection.
func (p *Provider) addClaims(ctx context.Context, c *client, found *token.Claims, to *introspection) (err error) {
	if found.Subject == found.ClientID {
		return nil
	}
	if found.ClientID != c.ClientID {
		if c, err = p.findClient(ctx, found.ClientID); err != nil {
			return err
		}
	}
	servers, err := p.serverClaims(ctx, &subject{client: c, audience: found.Audience}, []string{claims.Introspection})
	if err != nil {
		return err
	}
	identity, err := p.Clients.IdentityScopes(ctx, c.oauth)
	if err != nil {
		return err
	}
	if claims.Of(c.Application, claims.Context{Identity: identity, Servers: servers}).Has(claims.Introspection) {
		to.claims, err = p.claimsOfToken(ctx, found, claims.Introspection)
	}
	if schemas.HasCode(err, schemas.CodeUserNotFound) {
		*to, err = introspection{}, nil
	}
	return err
}

// username returns the name of the user of a token whose scopes release it; "" if none does.
func (p *Provider) username(ctx context.Context, userID string, scopes []string) (string, error) {
	if !slices.Contains(scopes, "profile") {
		return "", nil
	}
	user, err := p.Store.User(ctx, userID)
	if schemas.HasCode(err, schemas.CodeUserNotFound) {
		return "", nil // deleted meanwhile
	}
	if err != nil {
		return "", err
	}
	return user.Text("username"), nil
}

// usernameNow returns the name of the user of refresh tokens if the next access token releases it.
func (p *Provider) usernameNow(ctx context.Context, c *client, f *schemas.RefreshFamily) (string, error) {
	scopes, consent, err := p.scopeNow(ctx, c, f.Grant.UserID, f)
	if _, refused := err.(*Error); refused || err == nil && consent != nil && !consent.Releases("profile", "username") {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return p.username(ctx, f.Grant.UserID, scopes)
}

// mayIntrospect reports whether a token was issued to the client, is meant for the client, or for a
// resource server that the client is.
func (p *Provider) mayIntrospect(ctx context.Context, c *client, found *token.Claims) (bool, error) {
	if found.ClientID == c.ClientID || slices.Contains(found.Audience, c.ClientID) {
		return true, nil
	}
	if !c.IsTrusted() {
		return false, nil
	}
	for _, audience := range found.Audience {
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
	username, err := p.usernameNow(ctx, c, f)
	return &introspection{
		Active: true, Scope: strings.Join(f.Scopes, " "), ClientID: f.ClientID, Expires: f.ExpiresAt.Unix(),
		IssuedAt: f.RotatedAt.Unix(), Subject: f.Grant.UserID, Username: username, Issuer: p.Issuer,
	}, err
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
