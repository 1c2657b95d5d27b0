package token

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/postern-id/postern/schemas"
)

// The typ headers of tokens.
const (
	// AssertionType is the typ of an assertion, which has no client_id.
	AssertionType = "JWT"
	// AccessType is the typ of an access token: RFC 9068 §2.1.
	AccessType = "at+jwt"
	// idType is the typ of an ID token: none, as in OpenID Connect Core. No other token has
	// such a header, so an ID token cannot be mistaken for another kind.
	idType = ""
)

// ecdsaSize is the size of an ES256 signature: R and S, 32 bytes each, big endian (RFC 7518
// §3.4).
const ecdsaSize = 64

// signer is a signing key with the precomputed headers of its tokens.
type signer struct {
	id        string
	algorithm string
	private   crypto.Signer
	headers   map[string]string // by type
	// lifetimeEnd is the latest expiry of tokens of the key, in seconds since 1970. The
	// store keeps the key until then.
	lifetimeEnd atomic.Int64
}

// typesOf returns the types of tokens that an algorithm signs.
func typesOf(algorithm string) []string {
	switch algorithm {
	case ES256:
		return []string{AssertionType, AccessType, idType, LogoutType, ClaimsType}
	case RS256:
		return []string{idType, LogoutType, ClaimsType}
	}
	return nil
}

// newSigner returns the signer of a key; kid is its name in tokens.
func newSigner(kid, algorithm string, private crypto.Signer) *signer {
	s := &signer{id: kid, algorithm: algorithm, private: private, headers: map[string]string{}}
	for _, typ := range typesOf(algorithm) {
		s.headers[typ] = joseHeader{algorithm, kid, typ}.encode()
	}
	return s
}

// joseHeader is the JOSE header of a token: RFC 7515 §4.1.
type joseHeader struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Type      string `json:"typ,omitempty"`
}

// encode returns the header in base64url.
func (h joseHeader) encode() string {
	text, err := json.Marshal(h)
	if err != nil {
		panic(err) // three texts
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// sign returns the compact serialization (RFC 7515 §7.1) of the signed payload.
func (s *signer) sign(typ string, payload []byte) (string, error) {
	encoding := base64.RawURLEncoding
	header := s.headers[typ]
	token := make([]byte, 0, len(header)+1+encoding.EncodedLen(len(payload))+1+encoding.EncodedLen(s.size()))
	token = append(token, header...)
	token = append(token, '.')
	token = encoding.AppendEncode(token, payload)

	digest := sha256.Sum256(token)
	token = append(token, '.')
	token, err := s.appendSignature(token, digest[:])
	if err != nil {
		return "", fmt.Errorf("token: signing: %w", err)
	}
	return string(token), nil
}

// size is the number of bytes of a signature.
func (s *signer) size() int {
	if key, ok := s.private.(*rsa.PrivateKey); ok {
		return key.Size()
	}
	return ecdsaSize
}

// appendSignature signs a digest and appends the signature in base64url.
func (s *signer) appendSignature(token, digest []byte) ([]byte, error) {
	switch key := s.private.(type) {
	case *ecdsa.PrivateKey:
		r, v, err := ecdsa.Sign(rand.Reader, key, digest)
		if err != nil {
			return nil, err
		}
		var signature [ecdsaSize]byte
		r.FillBytes(signature[:ecdsaSize/2])
		v.FillBytes(signature[ecdsaSize/2:])
		return base64.RawURLEncoding.AppendEncode(token, signature[:]), nil
	case *rsa.PrivateKey:
		signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, digest)
		if err != nil {
			return nil, err
		}
		return base64.RawURLEncoding.AppendEncode(token, signature), nil
	}
	return nil, fmt.Errorf("cannot sign with a %T", s.private)
}

// lifetimeMargin is how much longer than a token its key is kept. So the store is updated
// about once in that time, not for every token.
const lifetimeMargin = 24 * time.Hour

// sign signs a payload that is valid until the given time, in seconds since 1970, with the
// signing key of the algorithm. The key is kept until then at least, even when it is
// retired.
func (i *Issuer) sign(ctx context.Context, algorithm, typ string, payload []byte, until int64) (string, error) {
	s, err := i.signer(ctx, algorithm)
	if err == nil && until > s.lifetimeEnd.Load() {
		s, err = i.extendKeyLifetime(ctx, s, until)
	}
	if err != nil {
		return "", err
	}
	return s.sign(typ, payload)
}

// extendKeyLifetime makes the store keep a key until the given time, and returns the key.
// If the key was removed, because this instance has outdated keys, it returns the current
// key.
func (i *Issuer) extendKeyLifetime(ctx context.Context, s *signer, last int64) (*signer, error) {
	i.loading.Lock()
	defer i.loading.Unlock()
	if last <= s.lifetimeEnd.Load() {
		return s, nil // another caller was faster
	}
	until := time.Unix(last, 0).Add(lifetimeMargin).UTC()
	err := i.keys.NeedSigningKey(ctx, s.id, until)
	if schemas.HasClass(err, schemas.Conflict) {
		if err := i.reload(ctx); err != nil {
			return nil, err
		}
		if s = i.set().signing[s.algorithm]; s == nil {
			return nil, i.Ready()
		}
		err = i.keys.NeedSigningKey(ctx, s.id, until)
	}
	if err != nil {
		return nil, fmt.Errorf("token: extending the lifetime of a signing key: %w", err)
	}
	s.lifetimeEnd.Store(until.Unix())
	return s, nil
}
