package token

import (
	"context"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Inspect is Verify for a token of any audience: the issuer itself introspects it (RFC
// 7662), revokes it (RFC 7009), or returns claims about the user (OpenID Connect Core
// §5.3).
func (i *Issuer) Inspect(ctx context.Context, raw string) (*Claims, error) {
	return i.Verify(ctx, raw, firstAudience(raw))
}

// firstAudience returns an unverified audience of a token; "" for none, which Verify
// rejects.
func firstAudience(raw string) string {
	if len(raw) > maxTokenSize {
		return ""
	}
	parsed, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{ES256, RS256})
	var claims jwt.Claims
	if err != nil || parsed.UnsafeClaimsWithoutVerification(&claims) != nil || len(claims.Audience) == 0 {
		return ""
	}
	return claims.Audience[0]
}
