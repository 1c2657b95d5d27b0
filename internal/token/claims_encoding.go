package token

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/postern-id/postern/schemas"
)

// claims are the claims of a token as they are written, without the ones of the user's profile. Its
// members replace those of Claims that have another form. Times are seconds since 1970.
type claims struct {
	Issuer    string   `json:"iss"`
	Audience  audience `json:"aud,omitempty"`
	IssuedAt  int64    `json:"iat"`
	Expires   int64    `json:"exp"`
	NotBefore int64    `json:"nbf,omitempty"` // in no token of this version
	AuthTime  int64    `json:"auth_time,omitempty"`
	Scope     string   `json:"scope,omitempty"`
	Claims

	// Only in ID tokens: OpenID Connect Core §2.
	AccessHash string `json:"at_hash,omitempty"`
	CodeHash   string `json:"c_hash,omitempty"`

	// The places of distributed claims: OpenID Connect Core §5.6.2.
	ClaimNames   map[string]string      `json:"_claim_names,omitempty"`
	ClaimSources map[string]claimSource `json:"_claim_sources,omitempty"`

	// Only in logout tokens: OpenID Connect Back-Channel Logout §2.4.
	Events map[string]struct{} `json:"events,omitempty"`
}

// claimSource is where distributed claims are read.
type claimSource struct {
	Endpoint    string `json:"endpoint"`
	AccessToken string `json:"access_token"`
}

// distribute adds the place of distributed claims.
func (c *claims) distribute(d *Distributed) {
	if d == nil {
		return
	}
	const source = "src1"
	c.ClaimNames, c.ClaimSources = map[string]string{}, map[string]claimSource{source: {d.Endpoint, d.AccessToken}}
	for _, name := range d.Names {
		c.ClaimNames[name] = source
	}
}

// audience is the claim aud. A single value is a string, because some readers compare it as
// text (RFC 7519 §4.1.3).
type audience []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audience) UnmarshalJSON(text []byte) error {
	return (*jwt.Audience)(a).UnmarshalJSON(text)
}

// MarshalJSON implements json.Marshaler.
func (a audience) MarshalJSON() ([]byte, error) {
	if len(a) == 1 {
		return json.Marshal(a[0])
	}
	return json.Marshal([]string(a))
}

// unixSeconds returns a time as a NumericDate (RFC 7519 §2), 0 for the zero time.
func unixSeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// encodeClaims returns the claims of a token to issue.
func encodeClaims(c *Claims) (claims, error) {
	scope, err := joinScope(c.Scope)
	return claims{
		Claims: *c, Audience: c.Audience, Scope: scope, AuthTime: unixSeconds(c.AuthTime),
		AccessHash: halfHash(c.AccessToken), CodeHash: halfHash(c.Code),
	}, err
}

// verified returns the claims of a token that was checked.
func (c *claims) verified() *Claims {
	v := c.Claims
	v.Audience, v.Scope = c.Audience, strings.Fields(c.Scope)
	v.IssuedAt, v.Expires = time.Unix(c.IssuedAt, 0).UTC(), time.Unix(c.Expires, 0).UTC()
	if c.AuthTime != 0 {
		v.AuthTime = time.Unix(c.AuthTime, 0).UTC()
	}
	return &v
}

// joinScope returns permissions as the value of a scope claim.
func joinScope(permissions []string) (string, error) {
	for _, permission := range permissions {
		if !IsScope(permission) {
			return "", fmt.Errorf("token: the permission %q cannot be a scope (RFC 6749 §3.3)", permission)
		}
	}
	return strings.Join(permissions, " "), nil
}

// IsScope reports whether a text is a scope-token of RFC 6749 §3.3. Scopes are separated by
// spaces, so a permission with a space would grant two.
func IsScope(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return s != ""
}

// halfHash returns the left half of the SHA-256 of a text, the value of at_hash and c_hash;
// "" for "". Both algorithms use SHA-256.
func halfHash(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}

// join returns the claims, a non-empty struct, the profile's attributes and the declared claims as one JSON
// object. Users who choose their own attributes must not be able to write a claim whose meaning readers rely
// on, whether the token has it or not.
func join(claims any, profile, declared map[string]any) ([]byte, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return nil, err
	}
	own := make(map[string]any, len(profile)+len(declared))
	for name, value := range profile {
		if !schemas.IsProtocolClaim(name) && !schemas.IsAuthorizationClaim(name) {
			own[name] = value
		}
	}
	for name, value := range declared {
		if !schemas.IsProtocolClaim(name) {
			own[name] = value
		}
	}
	if len(own) == 0 {
		return payload, nil
	}
	more, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	more[0] = ',' // replaces the opening brace
	return append(payload[:len(payload)-1], more...), nil
}
