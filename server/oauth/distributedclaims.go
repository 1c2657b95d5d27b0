package oauth

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// Distributed claims
//
// A token with thousands of groups fits into no header field. A list that is too long for a token is a distributed
// claim (OpenID Connect Core §5.6.2): the token names an endpoint, and an access token that is good for nothing but to
// read the claims of this token there.

// claimsEndpoint returns the address of the distributed claims of a target, in a token for resource servers. It is the
// audience of their access tokens: the reader of an access token must not read the claims of the ID token.
func (p *Provider) claimsEndpoint(target string, resources []string) string {
	endpoint := p.Issuer + ClaimsPath + "/" + target
	if len(resources) > 0 {
		endpoint += "?" + url.Values{"resource": resources}.Encode()
	}
	return endpoint
}

// documentClaims returns the claims of a token, and where the others are that are too long for it.
func (p *Provider) documentClaims(ctx context.Context, s *subject, target string) (map[string]any, *token.Distributed, error) {
	values, large := s.claims.Limited(target, p.describe(s))
	if len(large) == 0 {
		return values, nil, nil
	}
	grant, resources := s.family.Grant, []string(nil)
	if target == claims.AccessToken {
		resources = p.resourcesOf(s)
	}
	endpoint := p.claimsEndpoint(target, resources)
	reader := token.Claims{
		Subject: s.user.ID, ClientID: s.client.ClientID, Generation: s.client.TokenGeneration, Audience: []string{endpoint},
		Scope: slices.DeleteFunc(slices.Clone(s.scope), schemas.IsManagementScope), Session: s.family.SessionID,
		ID: s.family.ID + "." + schemas.NewID(), Validity: p.accessTTL(s.client), AuthTime: grant.AuthTime, ACR: grant.ACR, AMR: grant.AMR,
	}
	if target == claims.IDToken && s.requested != nil {
		reader.Requested = s.requested.IDToken
	}
	raw, err := p.Tokens.Access(ctx, reader)
	if err != nil {
		return nil, nil, fmt.Errorf("issuing an access token for distributed claims: %w", err)
	}
	return values, &token.Distributed{Names: large, Endpoint: endpoint, AccessToken: raw}, nil
}

// DistributedClaims handles GET /oauth2/claims/{document}: the claims that are too long for a token, as a JWT.
func (p *Provider) DistributedClaims(w http.ResponseWriter, r *http.Request) error {
	raw, err := bearer(w, r)
	if err != nil {
		return err
	}
	target, resources := path.Base(r.URL.Path), r.URL.Query()["resource"]
	found, err := p.Tokens.Verify(r.Context(), raw, p.claimsEndpoint(target, resources))
	switch {
	case schemas.HasClass(err, schemas.Unauthenticated):
		return errToken(http.StatusUnauthorized, codeInvalidToken, "%s", schemas.AsError(err).Description.DefaultValue)
	case err != nil:
		return err
	case found.Type != token.AccessType || found.Subject == found.ClientID:
		return errToken(http.StatusUnauthorized, codeInvalidToken, "expected the access token of _claim_sources")
	}
	found.Audience = resources
	s, err := p.subjectOfToken(r.Context(), found, target)
	if schemas.HasCode(err, schemas.CodeUserNotFound) {
		return errToken(http.StatusUnauthorized, codeInvalidToken, "the user of the token no longer exists")
	}
	if err != nil {
		return err
	}
	of := p.describe(s)
	values, _ := s.claims.Limited(target, of)
	all := s.claims.Values(target, of)
	maps.DeleteFunc(all, func(name string, _ any) bool { return values[name] != nil })
	document, err := p.Tokens.ClaimsDocument(r.Context(), token.Claims{Subject: found.Subject, Declared: all, Algorithm: s.client.oauth.Token.IDToken.SignedResponseAlg})
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/jwt")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(document)) // fails only if the client has gone
	return nil
}
