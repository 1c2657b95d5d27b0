package token

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// assertionClaims are the claims of an assertion that profile attributes never override.
type assertionClaims struct {
	Issuer     string   `json:"iss"`
	Subject    string   `json:"sub"`
	Audience   audience `json:"aud"`
	IssuedAt   int64    `json:"iat"`
	Expires    int64    `json:"exp"`
	ID         string   `json:"jti"`
	Scope      string   `json:"scope,omitempty"`
	AuthTime   int64    `json:"auth_time,omitempty"`
	AMR        []string `json:"amr,omitempty"`
	ACR        string   `json:"acr,omitempty"`
	UserType   string   `json:"userType,omitempty"`
	OUID       string   `json:"ouId,omitempty"`
	Session    string   `json:"sid,omitempty"`
	Generation string   `json:"tgen,omitempty"`
	// AuthRequest is named like the parameter of the endpoints, authId.
	AuthRequest string `json:"authId,omitempty"`
}

// audience is the claim aud. A single value is a string, because some readers compare it as
// text (RFC 7519 §4.1.3).
type audience []string

// MarshalJSON implements json.Marshaler.
func (a audience) MarshalJSON() ([]byte, error) {
	if len(a) == 1 {
		return json.Marshal(a[0])
	}
	return json.Marshal([]string(a))
}

// Assert returns the assertion as a signed JWT. Profile attributes named like reserved
// claims are left out.
func (i *Issuer) Assert(ctx context.Context, a schemas.Assertion) (string, error) {
	if err := i.Ready(); err != nil {
		return "", err
	}
	claims, err := i.newAssertionClaims(&a)
	if err != nil {
		return "", err
	}
	payload, err := join(claims, a.Profile)
	if err != nil {
		return "", fmt.Errorf("token: writing the claims: %w", err)
	}
	return i.sign(ctx, ES256, AssertionType, payload, claims.Expires)
}

func (i *Issuer) newAssertionClaims(a *schemas.Assertion) (*assertionClaims, error) {
	if a.Subject == "" || len(a.Audience) == 0 {
		return nil, errors.New("token: an assertion needs a subject and an audience")
	}
	scope, err := joinScope(a.Permissions)
	if err != nil {
		return nil, err
	}
	validity := cmp.Or(a.Validity, i.assertionTTL)
	now := i.now()
	claims := &assertionClaims{
		Issuer: i.issuer, Subject: a.Subject, Audience: a.Audience, IssuedAt: now.Unix(), Expires: now.Add(validity).Unix(),
		ID: schemas.NewID(), Scope: scope, AMR: a.AMR, ACR: a.ACR,
		UserType: a.UserType, OUID: a.OUID, Session: a.Session, Generation: a.Generation,
		AuthRequest: a.AuthRequest,
	}
	if !a.AuthTime.IsZero() {
		claims.AuthTime = a.AuthTime.Unix()
	}
	return claims, nil
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
