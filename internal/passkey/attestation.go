package passkey

import (
	"bytes"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/go-webauthn/webauthn/metadata"
	"github.com/go-webauthn/webauthn/metadata/providers/memory"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/google/uuid"
)

// Limits of an attestation statement. Real chains have two or three certificates; compound
// statements (L3 §8.9) two parts.
const (
	maxChain = 8
	maxParts = 8
)

// attestationFormats are the attestation statement formats that can be verified (L3 §8). It
// excludes android-safetynet: Google has shut the service down, so no genuine statement can be made
// any more.
func attestationFormats() []string {
	return []string{"none", "packed", "tpm", "android-key", "fido-u2f", "apple", "compound"}
}

// checkAttestation takes the remaining steps: the id is the attested one, the attestation statement
// verifies (L3 §7.1 steps 19–25), and the policy is met.
//
// A verified statement proves that the holder of the attestation key made the credential as stated.
// isAttested checks whose key that is. A passkey whose statement chains to no trust anchor is
// accepted, and is worth as much as one without a statement (step 24).
func (c *Ceremonies) checkAttestation(s *session, parsed *protocol.ParsedCredentialCreationData, attachment string, requireUV bool) error {
	object := &parsed.Response.AttestationObject
	if !bytes.Equal(parsed.RawID, object.AuthData.AttData.CredentialID) {
		return refuse(StepCredential, "id is not the id of the credential that the authenticator created")
	}
	if err := c.config.Policy.admitFormat(object.Format); err != nil {
		return err
	}
	if err := checkStatement(object); err != nil {
		return err
	}
	_, err := parsed.Verify(s.Challenge, s.RPID, s.Origins, s.Apps, nil, protocol.TopOriginExplicitVerificationMode, false, requireUV, true, nil, parameters(s.Algorithms), protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if err != nil {
		return refuseQuietly(StepAttestation, err, "the attestation statement (format %.32q) does not verify: %s", object.Format, libraryMessage(err))
	}
	if s.Attachment != "" && attachment != "" && attachment != s.Attachment {
		return refuse(StepPolicy, "the request requires a %s authenticator, but a %.32q one answered", s.Attachment, attachment)
	}
	return c.config.Policy.admitSynced(object.AuthData.Flags.HasBackupEligible())
}

// isAttested reports whether a verified statement chains to one of the operator's trust anchors (L3
// §7.1 steps 23 and 24). Self attestation has no chain. The library does not return the chains of
// a compound statement, so they are not considered.
func (c *Ceremonies) isAttested(object *protocol.AttestationObject) bool {
	chain, _ := object.AttStatement["x5c"].([]any)
	types := metadata.AuthenticatorAttestationTypes{metadata.AuthenticatorAttestationType(object.Type)}
	if len(c.config.Policy.TrustAnchors) == 0 || len(chain) == 0 || !types.HasCertificateTrustPath() {
		return false
	}
	aaguid, err := uuid.FromBytes(object.AuthData.AttData.AAGUID)
	if err != nil {
		return false
	}
	// The library checks chains with the metadata of each model; here all models have the same
	// trust anchors.
	provider, err := memory.New(memory.WithMetadata(map[uuid.UUID]*metadata.Entry{aaguid: {
		MetadataStatement: metadata.Statement{AttestationTypes: types, AttestationRootCertificates: c.config.Policy.TrustAnchors},
	}}))
	if err != nil {
		return false
	}
	return protocol.ValidateMetadata(context.Background(), provider, aaguid, object.Type, object.Format, chain) == nil
}

// ParseTrustAnchors reads root certificates in PEM (RFC 7468).
func ParseTrustAnchors(text []byte) (anchors []*x509.Certificate, err error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("expected PEM blocks of the type CERTIFICATE only, got %.64q", block.Type)
		}
		anchor, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(anchors)+1, err)
		}
		anchors = append(anchors, anchor)
	}
	if len(anchors) == 0 {
		return nil, errors.New("expected root certificates in PEM (-----BEGIN CERTIFICATE-----), found none")
	}
	return anchors, nil
}

// checkStatement limits the cost of verifying the statement. The library verifies with any key in a
// certificate, and a verification with the largest RSA key that fits into a statement takes
// seconds.
func checkStatement(object *protocol.AttestationObject) error {
	if !slices.Contains(attestationFormats(), object.Format) {
		return refuse(StepAttestation, "attestation in the format %.32q cannot be verified: use an authenticator with another format, or request attestation none", object.Format)
	}
	if len(object.SubStatements) > maxParts {
		return refuse(StepAttestation, "expected at most %d parts in a compound attestation, got %d", maxParts, len(object.SubStatements))
	}
	for _, part := range object.SubStatements {
		if !slices.Contains(attestationFormats(), part.Format) {
			return refuse(StepAttestation, "a compound attestation with a part in the format %.32q cannot be verified here", part.Format)
		}
		if err := checkChain(part.AttStatement["x5c"]); err != nil {
			return err
		}
	}
	return checkChain(object.AttStatement["x5c"])
}

// checkChain limits a statement's certificates. Anything that is not a list of certificates is left
// to the library, which knows where one is required.
func checkChain(x5c any) error {
	chain, _ := x5c.([]any)
	if len(chain) > maxChain {
		return refuse(StepAttestation, "expected at most %d certificates in the attestation statement, got %d", maxChain, len(chain))
	}
	for _, item := range chain {
		raw, ok := item.([]byte)
		if !ok {
			continue
		}
		certificate, err := x509.ParseCertificate(raw)
		if err != nil {
			return refuseQuietly(StepAttestation, err, "a certificate of the attestation statement is malformed")
		}
		if key, ok := certificate.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() > maxRSABits {
			return refuse(StepAttestation, "a certificate of the attestation statement has an RSA key of %d bits, but at most %d are accepted", key.N.BitLen(), maxRSABits)
		}
	}
	return nil
}
