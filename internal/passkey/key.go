package passkey

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// The limits of an RSA modulus. A smaller one is too weak; a larger one would make every later
// verification expensive.
const (
	minRSABits = 2048
	maxRSABits = 4096
)

// keyKinds maps the COSE algorithms that can be verified to the kind of their
// keys. RS1 (SHA-1) is left out on purpose.
var keyKinds = map[int64]string{
	-7: "EC2", -9: "EC2", -35: "EC2", -36: "EC2", -51: "EC2", -52: "EC2",
	-8: "OKP", -19: "OKP",
	-37: "RSA", -38: "RSA", -39: "RSA", -257: "RSA", -258: "RSA", -259: "RSA",
}

// checkKey checks that a new public key (COSE_Key, RFC 9052 §7) has an offered algorithm and can
// ever verify a signature, and returns its algorithm. The library examines the key only for some
// attestation formats; under "none" a point off its curve would be stored.
func checkKey(cose []byte, offered []int64) (int64, error) {
	key, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return 0, refuse(StepAlgorithm, "the new passkey's public key cannot be used: %w", err)
	}
	alg, kind := int64(0), ""
	switch k := key.(type) {
	case webauthncose.EC2PublicKeyData:
		alg, kind = k.Algorithm, "EC2"
	case webauthncose.OKPPublicKeyData:
		alg, kind = k.Algorithm, "OKP"
	case webauthncose.RSAPublicKeyData:
		alg, kind = k.Algorithm, "RSA"
		err = checkModulus(k.Modulus)
	}
	switch {
	case !slices.Contains(offered, alg):
		return 0, refuse(StepAlgorithm, "the new passkey uses COSE algorithm %d, but %v were offered", alg, offered)
	case keyKinds[alg] != kind:
		return 0, refuse(StepAlgorithm, "COSE algorithm %d needs a key of kind %s, but the new passkey has one of kind %q", alg, keyKinds[alg], kind)
	case err != nil:
		return 0, refuse(StepAlgorithm, "the new passkey's public key cannot be used: %w", err)
	}
	return alg, nil
}

func checkModulus(modulus []byte) error {
	bits := new(big.Int).SetBytes(modulus).BitLen()
	if bits < minRSABits || bits > maxRSABits {
		return fmt.Errorf("expected an RSA modulus of %d to %d bits, got %d", minRSABits, maxRSABits, bits)
	}
	return nil
}

// KeyAlgorithm returns the COSE algorithm of the public key (COSE_Key) of a passkey that another
// server registered. It fails for a key that cannot verify signatures here.
func KeyAlgorithm(cose []byte) (int64, error) {
	return checkKey(cose, slices.Collect(maps.Keys(keyKinds)))
}
