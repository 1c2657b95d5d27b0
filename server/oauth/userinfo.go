package oauth

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// UserInfo handles GET and POST /oauth2/userinfo: OpenID Connect Core §5.3. It accepts an access
// token with the scope openid for the client itself or for this server.
func (p *Provider) UserInfo(w http.ResponseWriter, r *http.Request) error {
	raw, err := bearer(w, r)
	if err != nil {
		return err
	}
	found, err := p.Tokens.Inspect(r.Context(), raw)
	switch {
	case schemas.HasClass(err, schemas.Unauthenticated):
		return errToken(http.StatusUnauthorized, codeInvalidToken, "%s", schemas.AsError(err).Description.DefaultValue)
	case err != nil:
		return err
	case found.Type != token.AccessType || found.Subject == found.ClientID:
		return errToken(http.StatusUnauthorized, codeInvalidToken, "expected an access token that was issued for a user")
	case !slices.Contains(found.Scope, openidScope):
		return errToken(http.StatusForbidden, codeInsufficientScope, "the token lacks the scope openid")
	// Another resource server must not learn more about the user from its token (RFC 9068 §4).
	case !slices.ContainsFunc(found.Audience, func(audience string) bool { return audience == found.ClientID || p.isOwnAudience(audience) }):
		return errToken(http.StatusUnauthorized, codeInvalidToken, "the token is for another resource server: "+
			"get one that names no resource, or %s (RFC 8707)", p.Issuer)
	}
	reported, err := p.claimsOfToken(r.Context(), found, claims.UserInfo)
	if schemas.HasCode(err, schemas.CodeUserNotFound) {
		return errToken(http.StatusUnauthorized, codeInvalidToken, "the user of the token no longer exists")
	}
	if err != nil {
		return err
	}
	reported["sub"] = found.Subject
	return writeReply(w, reported)
}

// claimsOfToken returns the claims of a target about the user of an access token, for the client of the token.
func (p *Provider) claimsOfToken(ctx context.Context, of *token.Claims, target string) (map[string]any, error) {
	s, err := p.subjectOfToken(ctx, of, target)
	if err != nil {
		return nil, err
	}
	return p.claimsFor(s, target), nil
}

// subjectOfToken returns the user of an access token, with what the claims of a target are computed from.
func (p *Provider) subjectOfToken(ctx context.Context, of *token.Claims, target string) (*subject, error) {
	c, err := p.findClient(ctx, of.ClientID)
	if err != nil {
		return nil, err
	}
	s := &subject{client: c, scope: of.Scope, audience: of.Audience, sessionID: of.Session}
	s.requestID, _, _ = strings.Cut(of.ID, ".")
	switch {
	case of.Requested != nil && target == claims.UserInfo:
		s.requested = &schemas.ClaimsRequest{UserInfo: of.Requested}
	case of.Requested != nil && target == claims.IDToken:
		s.requested = &schemas.ClaimsRequest{IDToken: of.Requested}
	}
	if s.user, err = p.Store.User(ctx, of.Subject); err != nil {
		return nil, err
	}
	if s.consent, err = p.consentOf(ctx, c, of.Subject); err != nil {
		return nil, err
	}
	return s, p.readClaims(ctx, s, target)
}

// consentOf returns the consent of a user to a client that needs it; nil for a client that needs none.
func (p *Provider) consentOf(ctx context.Context, c *client, userID string) (*schemas.Consent, error) {
	if !c.AsksConsent() {
		return nil, nil
	}
	consent, err := p.Store.Consent(ctx, userID, c.ID)
	if consent == nil { // revoked meanwhile
		consent = &schemas.Consent{}
	}
	return consent, err
}

// bearer returns the token of a request: RFC 6750 §2.1 and §2.2. A token in the query would end
// up in logs.
func bearer(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.URL.Query().Has("access_token") {
		return "", errorf(codeInvalidRequest, "query strings end up in logs: send the access token as Authorization: Bearer <token>")
	}
	if raw, sent := BearerToken(r); raw != "" {
		return raw, checkOneToken(w, r)
	} else if sent {
		return "", errToken(http.StatusUnauthorized, codeInvalidToken, "expected one header Authorization: Bearer <token>")
	}
	if r.Method == http.MethodPost && r.Header.Get("Content-Type") != "" {
		form, err := readBody(w, r)
		if err != nil {
			return "", err
		}
		if sent := form["access_token"]; len(sent) == 1 && sent[0] != "" {
			return sent[0], nil
		}
	}
	return "", errToken(http.StatusUnauthorized, codeInvalidRequest, "an access token is required: send it as Authorization: Bearer <token>")
}

// checkOneToken refuses a form with another token: a request has one (RFC 6750 §2).
func checkOneToken(w http.ResponseWriter, r *http.Request) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Method != http.MethodPost || kind != "application/x-www-form-urlencoded" {
		return nil
	}
	form, err := readBody(w, r)
	if err == nil && form.Has("access_token") {
		err = errorf(codeInvalidRequest, "the request has an access token in the header and in the body: send one (RFC 6750 section 2)")
	}
	return err
}

// BearerToken returns the token of the header of a request (RFC 6750 §2.1), "" if there is none or
// the header is malformed. It reports whether there is such a header.
func BearerToken(r *http.Request) (raw string, sent bool) {
	fields := r.Header.Values("Authorization")
	if len(fields) != 1 {
		return "", len(fields) > 0
	}
	scheme, raw, _ := strings.Cut(fields[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		raw = ""
	}
	return strings.TrimSpace(raw), true
}

// writeReply writes a reply that must not be cached.
func writeReply(w http.ResponseWriter, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(text) // fails only if the client has gone
	return nil
}
