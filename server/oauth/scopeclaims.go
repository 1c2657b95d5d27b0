package oauth

import (
	"context"
	"slices"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// readClaims reads the claims of a subject's client, and what those of the targets are computed from.
func (p *Provider) readClaims(ctx context.Context, s *subject, targets ...string) (err error) {
	identity, err := p.Clients.IdentityScopes(ctx, s.client.oauth)
	if err != nil {
		return err
	}
	servers, err := p.serverClaims(ctx, s, targets)
	if err != nil {
		return err
	}
	s.claims = claims.Of(s.client.Application, claims.Context{Identity: identity, Servers: servers})
	if s.requested != nil {
		s.mayRequest = func(scope string) bool {
			return slices.Contains(identity, scope) && len(s.client.requestable([]string{scope}, identity)) > 0
		}
	}
	if s.claims.NeedsFacts(p.describe(s), targets...) {
		if s.facts, err = p.Store.ClaimFacts(ctx, s.user.ID); err != nil {
			return err
		}
	}
	if s.claims.NeedsRun(p.describe(s), targets...) {
		s.run, err = p.Store.RunValues(ctx, s.requestID, s.sessionID)
	}
	return err
}

// serverClaims returns the resource servers of a subject's tokens with their claims, if a target has any.
func (p *Provider) serverClaims(ctx context.Context, s *subject, targets []string) ([]schemas.ResourceServer, error) {
	if !slices.Contains(targets, claims.AccessToken) && !slices.Contains(targets, claims.Introspection) {
		return nil, nil
	}
	return p.Clients.ServerClaims(ctx, p.resourcesOf(s))
}

// resourcesOf returns the audiences of a subject's tokens that are resource servers.
func (p *Provider) resourcesOf(s *subject) []string {
	return slices.DeleteFunc(slices.Clone(s.audience), func(audience string) bool { return audience == s.client.ClientID || p.isOwnAudience(audience) })
}

// describe returns what claims are computed from.
func (p *Provider) describe(s *subject) *claims.Subject {
	return &claims.Subject{User: s.user, Application: s.client.Application, Facts: s.facts, Run: s.run, Scope: s.scope, Consent: s.consent, Unverified: p.Unverified, Requested: s.requested, MayRequest: s.mayRequest}
}

// requestedAtUserInfo returns the claims that the client requested at userinfo, which accepts the access token.
func (s *subject) requestedAtUserInfo() map[string]*schemas.ClaimRequest {
	if s.requested == nil || !slices.Contains(s.scope, openidScope) {
		return nil
	}
	return s.requested.UserInfo
}

// claimsFor returns the claims of a target about a subject.
func (p *Provider) claimsFor(s *subject, target string) map[string]any {
	return s.claims.Values(target, p.describe(s))
}

// supportedClaims are the names of the claims of the protocol in ID tokens, and of the standard claims.
func supportedClaims() []string {
	names := []string{"iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "sid", "at_hash"}
	for _, s := range schemas.AllIdentityScopes() {
		names = append(names, s.Claims...)
	}
	return slices.Compact(names)
}
