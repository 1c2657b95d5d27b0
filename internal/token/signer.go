package token

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// The types of tokens, as their headers name them (typ).
const (
	// AssertionType is that of an assertion. It has no client_id.
	AssertionType = "JWT"
	// AccessType is that of an access token: RFC 9068 §2.1.
	AccessType = "at+jwt"
)

// algorithm is the JWS algorithm of every token: ECDSA with P-256 and SHA-256.
const algorithm = "ES256"

// signatureSize is that of an ES256 signature: R and S, 32 bytes each, big
// endian (RFC 7518 §3.4).
const signatureSize = 64

// signer is the key that signs, with the headers of its tokens made once.
type signer struct {
	private *ecdsa.PrivateKey
	headers map[string]string // by type
}

// newSigner returns the signer of a key, as which it is named in tokens.
func newSigner(kid string, private *ecdsa.PrivateKey) (*signer, error) {
	s := &signer{private: private, headers: map[string]string{}}
	for _, typ := range []string{AssertionType, AccessType} {
		header, err := json.Marshal(struct {
			Algorithm string `json:"alg"`
			KeyID     string `json:"kid"`
			Type      string `json:"typ"`
		}{algorithm, kid, typ})
		if err != nil {
			return nil, fmt.Errorf("token: writing a header: %w", err)
		}
		s.headers[typ] = base64.RawURLEncoding.EncodeToString(header)
	}
	return s, nil
}

// sign returns the compact serialisation (RFC 7515 §7.1) of the signed payload.
func (s *signer) sign(typ string, payload []byte) (string, error) {
	encoding := base64.RawURLEncoding
	header := s.headers[typ]
	size := len(header) + 1 + encoding.EncodedLen(len(payload)) + 1 + encoding.EncodedLen(signatureSize)
	token := make([]byte, 0, size)
	token = append(token, header...)
	token = append(token, '.')
	token = encoding.AppendEncode(token, payload)

	digest := sha256.Sum256(token)
	r, v, err := ecdsa.Sign(rand.Reader, s.private, digest[:])
	if err != nil {
		return "", fmt.Errorf("token: signing: %w", err)
	}
	var signature [signatureSize]byte
	r.FillBytes(signature[:signatureSize/2])
	v.FillBytes(signature[signatureSize/2:])
	token = append(token, '.')
	return string(encoding.AppendEncode(token, signature[:])), nil
}
