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
	if s.claims.NeedsFacts(s.scope, targets...) {
		s.facts, err = p.Store.ClaimFacts(ctx, s.user.ID)
	}
	return err
}

// claimsFor returns the claims of a target about a subject.
func (p *Provider) claimsFor(s *subject, target string) map[string]any {
	return s.claims.Values(target, &claims.Subject{User: s.user, Facts: s.facts, Scope: s.scope, Unverified: p.Unverified})
}

// supportedClaims are the names of the claims of the protocol in ID tokens, and of the standard claims.
func supportedClaims() []string {
	names := []string{"iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "sid", "at_hash"}
	for _, s := range schemas.AllIdentityScopes() {
		names = append(names, s.Claims...)
	}
	return slices.Compact(names)
}
