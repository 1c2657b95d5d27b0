package token

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
)

// claims are the claims of the tokens that this server issues, without the ones of the
// user's profile. Each kind of token has some of them. Times are seconds since 1970.
type claims struct {
	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Audience  audience `json:"aud"`
	IssuedAt  int64    `json:"iat"`
	Expires   int64    `json:"exp"`
	NotBefore int64    `json:"nbf,omitempty"` // in no token of this version
	ID        string   `json:"jti,omitempty"`
	AuthTime  int64    `json:"auth_time,omitempty"`
	ACR       string   `json:"acr,omitempty"`
	AMR       []string `json:"amr,omitempty"`
	Session   string   `json:"sid,omitempty"`

	// RFC 9068 §2.2; assertions have all but the client.
	ClientID   string `json:"client_id,omitempty"`
	Scope      string `json:"scope,omitempty"`
	Generation string `json:"tgen,omitempty"`

	// Only in assertions. AuthRequest is named like the parameter of the endpoints.
	UserType    string `json:"userType,omitempty"`
	OUID        string `json:"ouId,omitempty"`
	AuthRequest string `json:"authId,omitempty"`

	// Only in ID tokens: OpenID Connect Core §2.
	Nonce      string `json:"nonce,omitempty"`
	AccessHash string `json:"at_hash,omitempty"`
	CodeHash   string `json:"c_hash,omitempty"`

	// Only in logout tokens: OpenID Connect Back-Channel Logout §2.4.
	Events map[string]struct{} `json:"events,omitempty"`

	typ string // of a received token
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

// issue returns a signed token of a type with the claims and the profile. It sets the
// issuer and the times. A validity of 0 means the default of the type.
func (i *Issuer) issue(ctx context.Context, algorithm, typ string, validity time.Duration, profile map[string]any, c claims) (string, error) {
	if err := i.Ready(); err != nil {
		return "", err
	}
	if algorithm != RS256 && algorithm != ES256 {
		return "", fmt.Errorf("token: expected the algorithm %s or %s, got %q", RS256, ES256, algorithm)
	}
	now, validity := i.now(), cmp.Or(validity, i.validity[typ])
	c.Issuer, c.IssuedAt, c.Expires = i.issuer, now.Unix(), now.Add(validity).Unix()
	payload, err := join(&c, profile)
	if err != nil {
		return "", fmt.Errorf("token: writing the claims: %w", err)
	}
	if typ == idType {
		validity += hintTTL
	}
	return i.sign(ctx, algorithm, typ, payload, now.Add(validity).Unix())
}

// join returns the claims, a non-empty struct, and the profile's attributes as one JSON
// object.
func join(claims any, profile map[string]any) ([]byte, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return nil, err
	}
	own := make(map[string]any, len(profile))
	for name, value := range profile {
		if !isReserved(name) {
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

// isReserved reports whether a claim name has a meaning that readers rely on. Users who
// choose their own attributes must not be able to write such a claim, whether the token has
// it or not, in any letter case: some readers ignore case. (ToUpper before ToLower also
// normalizes letters such as the long s.)
func isReserved(name string) bool {
	switch strings.ToLower(strings.ToUpper(name)) {
	case "iss", "sub", "aud", "exp", "nbf", "iat", "jti", // RFC 7519 §4.1
		"auth_time", "nonce", "acr", "amr", "azp", "at_hash", "c_hash", "s_hash", "sid", // OpenID Connect
		"scope", "scp", "client_id", "act", "may_act", "cnf", // RFC 8693, RFC 7800
		"roles", "groups", "entitlements", "permissions", // RFC 9068 §2.2.3.1
		"events", "txn", "toe", // RFC 8417
		"usertype", "ouid", "tgen", "authid":
		return true
	}
	return false
}
