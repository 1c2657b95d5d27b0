package oauth

import (
	"context"
	"slices"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// readClaims reads the claims of a subject's client, and what those of the targets are computed from.
func (p *Provider) readClaims(ctx context.Context, s *subject, targets ...string) (err error) {
	s.claims = claims.Of(s.client.Application)
	if s.requested != nil {
		identity, err := p.Clients.IdentityScopes(ctx, s.client.oauth)
		if err != nil {
			return err
		}
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
