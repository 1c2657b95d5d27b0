package passkeytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
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
func newKey(alg int64, random io.Reader) key {
	switch alg {
	case algEdDSA:
		return key{alg, ed25519.NewKeyFromSeed(readBytes(random, ed25519.SeedSize))}
	case algRS256:
		return key{alg, newRSA(random)}
	}
	for {
		// A seed that is no scalar of the curve (one in 2^32) is skipped.
		if k, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), readBytes(random, 32)); err == nil {
			return key{alg, k}
		}
	}
}

func readBytes(random io.Reader, n int) []byte {
	b := make([]byte, n)
	must(io.ReadFull(random, b))
	return b
}

// newRSA returns a 2048-bit RSA key from two primes found in random.
func newRSA(random io.Reader) *rsa.PrivateKey {
	e, one := big.NewInt(65537), big.NewInt(1)
	for {
		p, q := newPrime(random), newPrime(random)
		phi := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
		d := new(big.Int).ModInverse(e, phi)
		if d == nil || p.Cmp(q) == 0 {
			continue
		}
		k := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537}, D: d, Primes: []*big.Int{p, q}}
		k.Precompute()
		return k
	}
}

// newPrime returns a prime of 1024 bits, the upper two set, from a random start.
func newPrime(random io.Reader) *big.Int {
	raw := readBytes(random, 128)
	raw[0] |= 0xc0
	raw[127] |= 1
	p, two := new(big.Int).SetBytes(raw), big.NewInt(2)
	for !p.ProbablyPrime(10) {
		p.Add(p, two)
	}
	return p
}

// sign signs data with the key's algorithm, deterministically (RFC 6979, RFC 8032,
// RSASSA-PKCS1-v1_5).
func (k key) sign(data []byte) []byte {
	hash := crypto.SHA256
	if k.alg == algEdDSA {
		hash = crypto.Hash(0)
	}
	return must(crypto.SignMessage(k.signer, nil, data, hash))
}

// cose encodes the public key as a COSE_Key (RFC 9052 §7, RFC 8230 §4).
func (k key) cose() []byte {
	m := map[int64]any{3: k.alg}
	switch pub := k.signer.Public().(type) {
	case *ecdsa.PublicKey:
		point := must(pub.Bytes()) // 4 ‖ x ‖ y
		m[1], m[-1], m[-2], m[-3] = 2, 1, point[1:33], point[33:]
	case ed25519.PublicKey:
		m[1], m[-1], m[-2] = 1, 6, []byte(pub)
	case *rsa.PublicKey:
		m[1], m[-1], m[-2] = 3, pub.N.Bytes(), big.NewInt(int64(pub.E)).Bytes()
	}
	return must(webauthncbor.Marshal(m))
}
