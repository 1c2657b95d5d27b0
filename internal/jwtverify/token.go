package jwtverify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// maxTokenLength is the maximum size of a token in bytes.
const maxTokenLength = 16 << 10

// ed25519Name is the name of EdDSA with an Ed25519 key in RFC 9864 §2.2.
const ed25519Name jose.SignatureAlgorithm = "Ed25519"

// Algorithms returns the accepted signature algorithms (RFC 7518 §3.1, RFC 8037, RFC 9864).
func Algorithms() []string {
	return strings.Fields("ES256 ES384 ES512 PS256 PS384 PS512 RS256 RS384 RS512 EdDSA Ed25519")
}

// Token is a parsed, unverified token.
type Token struct {
	Algorithm string
	KeyID     string // "" for none
	jwt       *jwt.JSONWebToken
}

// Parse parses a token. Its typ must be one of types, JWT, or absent: a token for another
// purpose is rejected (RFC 8725 §3.11). The error describes the token and quotes nothing
// but its header.
func Parse(raw string, types ...string) (*Token, error) {
	if len(raw) > maxTokenLength || strings.ContainsAny(raw, "\r\n") {
		return nil, fmt.Errorf("it is longer than %d bytes, or contains line ends", maxTokenLength)
	}
	algorithms := make([]jose.SignatureAlgorithm, 0, len(Algorithms()))
	for _, name := range Algorithms() {
		algorithms = append(algorithms, jose.SignatureAlgorithm(name))
	}
	parsed, err := jwt.ParseSigned(raw, algorithms)
	if err != nil || len(parsed.Headers) != 1 {
		return nil, fmt.Errorf("expected a JWT signed by one of %s", strings.Join(Algorithms(), ", "))
	}
	head := parsed.Headers[0]
	if err := checkHeader(head.ExtraHeaders, types); err != nil {
		return nil, err
	}
	return &Token{Algorithm: head.Algorithm, KeyID: head.KeyID, jwt: parsed}, nil
}

// checkHeader rejects critical extensions and other types.
func checkHeader(header map[jose.HeaderKey]any, types []string) error {
	for _, name := range []jose.HeaderKey{"crit", "b64", "zip"} {
		if _, has := header[name]; has {
			return fmt.Errorf("its header %s is not supported", name)
		}
	}
	sent, has := header[jose.HeaderType]
	typ, isText := sent.(string)
	switch {
	case has && !isText:
		return fmt.Errorf("expected its typ to be a string")
	case typ != "" && !strings.EqualFold(typ, "JWT") && !slices.Contains(types, typ):
		return fmt.Errorf("expected its typ to be %s, got %.100s", strings.Join(append(slices.Clone(types), "JWT"), " or "), typ)
	}
	return nil
}

// Claims verifies the signature with the key and decodes the claims into the value that
// into points to. A duplicate member is an error, and names are case-sensitive.
func (t *Token) Claims(public, into any) error { return t.jwt.Claims(public, into) }

// Unverified decodes the claims without verifying the signature.
func (t *Token) Unverified(into any) error { return t.jwt.UnsafeClaimsWithoutVerification(into) }
