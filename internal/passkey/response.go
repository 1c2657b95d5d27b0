package passkey

import (
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/postern-id/postern/schemas"
)

// Limits of client input, in bytes after decoding, so that hostile input cannot cost more
// than valid input. Real values are a fraction.
const (
	maxCredentialID  = 1023 // §7.1 step 25
	maxClientData    = 8 << 10
	maxAttestation   = 64 << 10
	maxAuthenticator = 8 << 10
	maxSignature     = 8 << 10
	maxUserHandle    = 64 // §5.4.3
)

// field is one member of a response: its name on the wire, its base64url text, its maximum
// length in bytes, and its destination.
type field struct {
	name     string
	text     string
	limit    int
	optional bool
	into     *protocol.URLEncodedBase64
}

const clientDataJSON = "clientDataJSON"

// decode decodes the fields and rejects the first that is missing, too long or not
// base64url. Line breaks, which Go's decoder skips, are not base64url.
func decode(fields ...field) error {
	for _, f := range fields {
		if f.text == "" && !f.optional {
			return refuse(StepResponse, "%s is missing from the browser's answer", f.name)
		}
		if len(f.text) > (f.limit+2)/3*4 {
			return refuse(StepResponse, "%s is too long: expected at most %d bytes, got %d base64url characters", f.name, f.limit, len(f.text))
		}
		raw, err := schemas.ParseBytes(f.text)
		if err == nil && strings.ContainsAny(f.text, "\r\n") {
			err = fmt.Errorf("expected base64url (A-Z a-z 0-9 - _), got a line break")
		}
		if err != nil {
			return refuse(StepResponse, "%s: %w", f.name, err)
		}
		if len(raw) > f.limit || len(raw) == 0 && !f.optional {
			return refuse(StepResponse, "%s: expected 1 to %d bytes, got %d", f.name, f.limit, len(raw))
		}
		if f.name == clientDataJSON && !utf8.Valid(raw) {
			return refuse(StepResponse, "clientDataJSON: expected a JSON object in UTF-8")
		}
		*f.into = protocol.URLEncodedBase64(raw)
	}
	return nil
}

// parseAttestation decodes a registration response, L3 §7.1 steps 5–6 and 12.
func parseAttestation(r RegistrationResponse) (*protocol.ParsedCredentialCreationData, error) {
	var parsed protocol.ParsedCredentialCreationData
	raw := &parsed.Raw.AttestationResponse
	err := decode(
		field{name: "id", text: r.ID, limit: maxCredentialID, into: &parsed.Raw.RawID},
		field{name: clientDataJSON, text: r.ClientDataJSON, limit: maxClientData, into: &raw.ClientDataJSON},
		field{name: "attestationObject", text: r.AttestationObject, limit: maxAttestation, into: &raw.AttestationObject},
	)
	if err != nil {
		return nil, err
	}
	response, err := raw.Parse()
	if err != nil {
		return nil, refuse(StepResponse, "the attestation response is malformed: expected client data as a JSON object, and a CBOR attestation object with authData, fmt and attStmt that ends where it ends: %s", libraryMessage(err))
	}
	parsed.Response, parsed.RawID = *response, parsed.Raw.RawID
	return &parsed, nil
}

// parseAssertion decodes an authentication response, L3 §7.2 steps 8–10.
func parseAssertion(r AuthenticationResponse) (*protocol.ParsedCredentialAssertionData, error) {
	var raw protocol.CredentialAssertionResponse
	in := &raw.AssertionResponse
	err := decode(
		field{name: "id", text: r.ID, limit: maxCredentialID, into: &raw.RawID},
		field{name: clientDataJSON, text: r.ClientDataJSON, limit: maxClientData, into: &in.ClientDataJSON},
		field{name: "authenticatorData", text: r.AuthenticatorData, limit: maxAuthenticator, into: &in.AuthenticatorData},
		field{name: "signature", text: r.Signature, limit: maxSignature, into: &in.Signature},
		field{name: "userHandle", text: r.UserHandle, limit: maxUserHandle, into: &in.UserHandle, optional: true},
	)
	if err != nil {
		return nil, err
	}
	// The library requires members that a flow's inputs do not have: rawId equals the ID,
	// and there is only one type.
	raw.ID, raw.Type = raw.RawID.String(), string(protocol.PublicKeyCredentialType)
	parsed, err := raw.Parse()
	if err != nil {
		return nil, refuse(StepResponse, "the assertion is malformed: expected client data as a JSON object, and authenticator data of 37 bytes, or more as its flags say: %s", libraryMessage(err))
	}
	return parsed, nil
}

// checkClientData makes the checks of the client data: L3 §7.1 steps 7–11, §7.2 steps
// 11–14 (type, challenge, origin, crossOrigin, topOrigin).
func (s *session) checkClientData(d *protocol.CollectedClientData, want protocol.CeremonyType) error {
	if d.Type != want {
		return refuse(StepType, "the browser's answer is of type %.64q, expected %q; call navigator.credentials.get to sign in, and create to register", d.Type, want)
	}
	if subtle.ConstantTimeCompare([]byte(d.Challenge), []byte(s.Challenge)) != 1 {
		return refuse(StepChallenge, "the answer is to another challenge: only the newest one is valid; start the ceremony again")
	}
	if err := s.checkOrigin(d.Origin); err != nil {
		return err
	}
	// The answer was made inside a page of another site, where users may not know to which
	// site they sign in.
	if d.CrossOrigin || d.TopOrigin != "" {
		return refuse(StepCrossOrigin, "passkeys cannot be used from a frame inside a page of another origin: open the sign-in page by itself")
	}
	return nil
}

// checkOrigin checks that the origin is allowed, by exact comparison, and is in the domain
// of the relying party ID. Without the second check, one allowed origin could use the
// passkeys of another's domain.
func (s *session) checkOrigin(text string) error {
	switch {
	case slices.Contains(s.Origins, text), slices.Contains(s.Apps, text):
		return nil
	case slices.Contains(s.Outside, text):
		return refuse(StepOrigin, "origin %.255q cannot use the relying party id %q: its host must be that domain or a subdomain of it, over https or at localhost; ask for another relyingPartyId, or use another origin of %s", text, s.RPID, configuredOrigins)
	}
	return refuse(StepOrigin, "origin %.255q is not allowed for relying party id %q: add it to %s or to the application's %s", text, s.RPID, configuredOrigins, applicationOrigins)
}

// checkAuthenticator makes the checks of the authenticator data: L3 §7.1 steps 13–17, §7.2
// steps 15–18 (RP ID, UP, UV, BS without BE).
func (s *session) checkAuthenticator(d *protocol.AuthenticatorData, hash [32]byte, requireUV bool) error {
	if subtle.ConstantTimeCompare(d.RPIDHash, hash[:]) != 1 {
		return refuse(StepRelyingParty, "the passkey answered for a relying party other than %q", s.RPID)
	}
	if !d.Flags.HasUserPresent() {
		return refuse(StepPresence, "the authenticator did not see a user present (flag UP)")
	}
	if requireUV && !d.Flags.HasUserVerified() {
		return refuse(StepVerification, "the authenticator did not verify its user (flag UV), which is required here: set up a PIN or biometrics on it")
	}
	if d.Flags.HasBackupState() && !d.Flags.HasBackupEligible() {
		return refuse(StepBackup, "the authenticator claims that the passkey is backed up (BS), although it is not eligible for backup (BE)")
	}
	return nil
}
