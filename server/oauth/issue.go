package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// subject is the user of tokens, with their contents.
type subject struct {
	client          *client
	family          *schemas.RefreshFamily
	user            *schemas.User
	scope, audience []string
	consent         *schemas.Consent // nil if the client needs none
	nonce, code     string           // "" on refresh
	claims          *claims.Set
	facts           *schemas.ClaimFacts // nil if no claim needs them
	run             schemas.RunValues   // nil if no claim needs them
	// requestID and sessionID are the authorization request and the session of the tokens.
	requestID, sessionID string
	requested            *schemas.ClaimsRequest
	mayRequest           func(scope string) bool // nil if requested is
}

// subject looks up the current contents. Nothing is remembered from the sign-in: roles change,
// users are deleted, and sessions end.
func (p *Provider) subject(ctx context.Context, c *client, f *schemas.RefreshFamily, form url.Values) (*subject, error) {
	s := &subject{client: c, family: f, requestID: f.ID, sessionID: f.SessionID}
	var err error
	if s.user, err = p.Store.SessionUser(ctx, f.SessionID, f.Grant.UserID); schemas.HasCode(err, schemas.CodeUserNotFound) {
		return nil, errorf(codeInvalidGrant, "the session has ended: sign the user in again")
	}
	if err != nil {
		return nil, err
	}
	if !c.Admits(s.user.Type, s.user.IdentifierScope) {
		return nil, errorf(codeInvalidGrant, "users of this type may no longer sign in to the application")
	}
	if s.scope, s.consent, err = p.scopeNow(ctx, c, s.user.ID, f); err != nil {
		return nil, err
	}
	s.requested = f.Grant.Claims
	resources, err := narrowResources(f.Resources, form["resource"])
	if err != nil {
		return nil, err
	}
	if s.audience, err = p.userAudience(ctx, c, s.scope, resources); err != nil {
		return nil, err
	}
	return s, p.readClaims(ctx, s, claims.IDToken, claims.AccessToken)
}

// scopeNow returns the scopes of tokens of a user now, of those that were requested, and the user's consent if the client
// needs it.
func (p *Provider) scopeNow(ctx context.Context, c *client, userID string, f *schemas.RefreshFamily) ([]string, *schemas.Consent, error) {
	identity, err := p.Clients.IdentityScopes(ctx, c.oauth)
	if err != nil {
		return nil, nil, err
	}
	scope, err := p.userScope(ctx, userID, c.requestable(f.Scopes, identity), identity)
	if err != nil {
		return nil, nil, err
	}
	scope, consent, err := p.consentedScope(ctx, c, userID, scope, identity)
	if err != nil {
		return nil, nil, err
	}
	return c.approvedScope(scope, f.Grant.Approved), consent, nil
}

// issue builds the reply: RFC 6749 §5.1, OpenID Connect Core §3.1.3.3 and §12.2.
func (p *Provider) issue(ctx context.Context, s *subject) (*oidc.AccessTokenResponse, error) {
	c, grant, validity := s.client, s.family.Grant, p.accessTTL(s.client)
	if err := p.extendExpiry(ctx, c.Application, usedClientTTL); err != nil {
		return nil, err
	}
	declared, elsewhere, err := p.documentClaims(ctx, s, claims.AccessToken)
	if err != nil {
		return nil, err
	}
	raw, err := p.Tokens.Access(ctx, token.Claims{
		Subject: s.user.ID, ClientID: c.ClientID, Generation: c.TokenGeneration, Audience: s.audience, Scope: s.scope, Session: s.family.SessionID,
		ID: s.family.ID + "." + schemas.NewID(), Validity: validity, AuthTime: grant.AuthTime, ACR: grant.ACR, AMR: grant.AMR,
		Declared: declared, Distributed: elsewhere, Requested: s.requestedAtUserInfo(),
	})
	if err != nil {
		return nil, fmt.Errorf("issuing an access token: %w", err)
	}
	reply := &oidc.AccessTokenResponse{AccessToken: raw, TokenType: oidc.BearerToken, ExpiresIn: uint64(validity.Seconds()), Scope: s.scope}
	if c.mayGrant(schemas.GrantRefreshToken) {
		reply.RefreshToken = p.refreshToken(s.family.ID, s.family.Generation)
	}
	if !slices.Contains(s.scope, openidScope) {
		return reply, nil
	}
	if declared, elsewhere, err = p.documentClaims(ctx, s, claims.IDToken); err != nil {
		return nil, err
	}
	reply.IDToken, err = p.Tokens.IDToken(ctx, token.Claims{
		Subject: s.user.ID, ClientID: c.ClientID, Nonce: s.nonce, Session: grant.SessionID, AuthTime: grant.AuthTime,
		ACR: grant.ACR, AMR: grant.AMR, Declared: declared, Distributed: elsewhere, AccessToken: raw, Code: s.code,
		Validity: seconds(c.oauth.Token.IDToken.ValidityPeriod), Algorithm: c.oauth.Token.IDToken.SignedResponseAlg,
	})
	if err != nil {
		return nil, fmt.Errorf("issuing an ID token: %w", err)
	}
	return reply, nil
}
