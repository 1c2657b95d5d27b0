package passkeytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// COSE algorithms (IANA). ESP256 is another name of ES256; it stands for an algorithm that
// is never offered.
const (
	algES256  int64 = -7
	algEdDSA  int64 = -8
	algESP256 int64 = -9
	algRS256  int64 = -257
)

// key is a credential's key pair.
type key struct {
	alg    int64
	signer crypto.Signer
}

// newKey derives a key pair from random alone. The generators of crypto/* no longer accept
// randomness from their callers.
func newKey(alg int64, random io.Reader) (key, error) {
	seed := make([]byte, 32)
	switch alg {
	case algES256, algESP256:
		for {
			if _, err := io.ReadFull(random, seed); err != nil {
				return key{}, err
			}
			// A seed that is no scalar of the curve (one in 2^32) is skipped.
			if k, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed); err == nil {
				return key{alg, k}, nil
			}
		}
	case algEdDSA:
		_, err := io.ReadFull(random, seed)
		return key{alg, ed25519.NewKeyFromSeed(seed)}, err
	case algRS256:
		k, err := newRSA(random)
		return key{alg, k}, err
	}
	return key{}, fmt.Errorf("the software authenticator has no COSE algorithm %d", alg)
}

// newRSA returns a 2048-bit RSA key from two primes found in random.
func newRSA(random io.Reader) (*rsa.PrivateKey, error) {
	e, one := big.NewInt(65537), big.NewInt(1)
	for {
		p, err := newPrime(random)
		if err != nil {
			return nil, err
		}
		q, err := newPrime(random)
		if err != nil {
			return nil, err
		}
		phi := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
		d := new(big.Int).ModInverse(e, phi)
		if d == nil || p.Cmp(q) == 0 {
			continue
		}
		k := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537}, D: d, Primes: []*big.Int{p, q}}
		k.Precompute()
		return k, k.Validate()
	}
}

// newPrime returns a prime of 1024 bits, the upper two set, from a random start.
func newPrime(random io.Reader) (*big.Int, error) {
	raw := make([]byte, 128)
	if _, err := io.ReadFull(random, raw); err != nil {
		return nil, err
	}
	raw[0] |= 0xc0
	raw[127] |= 1
	p, two := new(big.Int).SetBytes(raw), big.NewInt(2)
	for !p.ProbablyPrime(10) {
		p.Add(p, two)
	}
	return p, nil
}

// sign signs data with the key's algorithm, deterministically (RFC 6979, RFC 8032,
// RSASSA-PKCS1-v1_5).
func (k key) sign(data []byte) ([]byte, error) {
	if k.alg == algEdDSA {
		return k.signer.Sign(nil, data, crypto.Hash(0))
	}
	digest := sha256.Sum256(data)
	return k.signer.Sign(nil, digest[:], crypto.SHA256)
}

// cose encodes the public key as a COSE_Key (RFC 9052 §7, RFC 8230 §4).
func (k key) cose() ([]byte, error) {
	m := map[int64]any{3: k.alg}
	switch pub := k.signer.Public().(type) {
	case *ecdsa.PublicKey:
		point, err := pub.Bytes() // 4 ‖ x ‖ y
		if err != nil {
			return nil, err
		}
		m[1], m[-1], m[-2], m[-3] = 2, 1, point[1:33], point[33:]
	case ed25519.PublicKey:
		m[1], m[-1], m[-2] = 1, 6, []byte(pub)
	case *rsa.PublicKey:
		m[1], m[-1], m[-2] = 3, pub.N.Bytes(), big.NewInt(int64(pub.E)).Bytes()
	}
	return webauthncbor.Marshal(m)
}

func uint16Bytes(n int) []byte    { return binary.BigEndian.AppendUint16(nil, uint16(n)) }
func uint32Bytes(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
