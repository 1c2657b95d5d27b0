package token

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-jose/go-jose/v4/jwt"
)

// Inspect is Verify for whomever a token is meant: where it is shown to its own
// issuer, which says what it is worth (RFC 7662), revokes it (RFC 7009), or tells
// of the user (OpenID Connect Core §5.3).
func (i *Issuer) Inspect(ctx context.Context, raw string) (*Claims, error) {
	return i.Verify(ctx, raw, firstAudience(raw))
}

// firstAudience is what a token says of whom it is meant for, before anything of
// it is verified; "" if it says nothing, which Verify takes for no audience.
func firstAudience(raw string) string {
	if len(raw) > longestValidity {
		return ""
	}
	_, rest, _ := strings.Cut(raw, ".")
	encoded, _, _ := strings.Cut(rest, ".")
	payload, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return ""
	}
	var claims struct {
		Audience jwt.Audience `json:"aud"`
	}
	if json.Unmarshal(payload, &claims) != nil || len(claims.Audience) == 0 {
		return ""
	}
	return claims.Audience[0]
}
