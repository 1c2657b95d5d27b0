package passkeytest

import (
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	mathrand "math/rand/v2"
	"time"
)

// CA is the certification authority of a manufacturer of authenticators.
type CA struct {
	Certificate *x509.Certificate // the trust anchor
	key         key
}

// NewCA returns an authority. The same seed gives the same one.
func NewCA(seed string) *CA {
	k := newKey(algES256, mathrand.NewChaCha8(sha256.Sum256([]byte("authority "+seed))))
	template := certificate(pkix.Name{Organization: []string{"Example Keys"}, CommonName: "Example Keys Root " + seed})
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	raw := must(x509.CreateCertificate(nil, template, template, k.signer.Public(), k.signer))
	return &CA{must(x509.ParseCertificate(raw)), k}
}

// PEM returns the trust anchor in PEM, for the configuration key passkey.trust_anchors.
func (ca *CA) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Certificate.Raw})
}

// AttestedBy gives the authenticator an attestation key that the authority certified. Its
// attestation follows L3 §8.2 (basic, packed) if the options request one.
func AttestedBy(ca *CA) Option { return func(a *Authenticator) { a.maker = ca } }

// attestation returns the key that signs statements, and its certificate chain without the trust
// anchor. Authenticators of one model share one key.
func (ca *CA) attestation() (k key, chain []any) {
	k = newKey(algES256, mathrand.NewChaCha8(sha256.Sum256(ca.Certificate.Raw)))
	// The subject is that of L3 §8.2.1.
	template := certificate(pkix.Name{
		Country: []string{"SE"}, Organization: []string{"Example Keys"},
		OrganizationalUnit: []string{"Authenticator Attestation"}, CommonName: "Example Key",
	})
	return k, []any{must(x509.CreateCertificate(nil, template, ca.Certificate, k.signer.Public(), ca.key.signer))}
}

// certificate is the template of a certificate with a long validity.
func certificate(subject pkix.Name) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: subject, BasicConstraintsValid: true,
		NotBefore: time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:  time.Date(2120, time.January, 1, 0, 0, 0, 0, time.UTC),
	}
}
