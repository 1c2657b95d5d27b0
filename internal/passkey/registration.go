package passkey

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/google/uuid"

	"github.com/postern-id/postern/schemas"
)

// RegistrationRequest describes a registration ceremony.
type RegistrationRequest struct {
	User    User
	Exclude []schemas.Credential // become excludeCredentials: authenticators that hold one refuse
	// RPID and RPName replace the configured ones, if not "".
	RPID, RPName string
	// Origins are allowed in addition to the configured ones.
	Origins []string
	// UserVerification is required, preferred ("" too) or discouraged; the
	// policy may raise it.
	UserVerification string
	// Attachment is platform, cross-platform or "" for any.
	Attachment string
	// ResidentKey is required, preferred ("" too) or discouraged.
	ResidentKey string
	// Attestation is none ("" too), indirect, direct or enterprise.
	Attestation string
}

// BeginRegistration returns PublicKeyCredentialCreationOptions (§5.4) and the
// session for FinishRegistration.
func (c *Ceremonies) BeginRegistration(r RegistrationRequest) (options, session json.RawMessage, err error) {
	if n := len(r.User.ID); n == 0 || n > maxUserHandle {
		return nil, nil, badRequest("a passkey needs a user: expected an id of 1 to %d bytes, got %d", maxUserHandle, n)
	}
	err = cmp.Or(
		checkVerification(r.UserVerification),
		checkOption("authenticatorAttachment", r.Attachment, Platform, CrossPlatform),
		checkOption("residentKey", r.ResidentKey, Required, Preferred, Discouraged),
		checkOption("attestation", r.Attestation, "none", "indirect", "direct", "enterprise"),
		c.config.Policy.admitAttachment(r.Attachment),
	)
	if err != nil {
		return nil, nil, err
	}
	rp, err := c.relyingParty(r.RPID, r.Origins)
	if err != nil {
		return nil, nil, err
	}
	selection := c.selection(r)
	s, challenge := c.newSession(schemas.RegistrationCeremony, rp, string(selection.UserVerification))
	s.UserID, s.Algorithms, s.Attachment = r.User.ID, c.config.Policy.Algorithms, string(selection.AuthenticatorAttachment)
	return s.encode(protocol.PublicKeyCredentialCreationOptions{
		RelyingParty:           protocol.RelyingPartyEntity{ID: rp.id, CredentialEntity: protocol.CredentialEntity{Name: cmp.Or(displayText(r.RPName, maxNameBytes), c.config.RPName)}},
		User:                   userEntity(r.User),
		Challenge:              challenge,
		Parameters:             parameters(s.Algorithms),
		Timeout:                int(c.config.Timeout.Milliseconds()),
		CredentialExcludeList:  descriptors(r.Exclude),
		AuthenticatorSelection: selection,
		Attestation:            protocol.ConveyancePreference(cmp.Or(r.Attestation, "none")),
	})
}

// selection returns the authenticatorSelection of the options (§5.4.4).
func (c *Ceremonies) selection(r RegistrationRequest) protocol.AuthenticatorSelection {
	residentKey := cmp.Or(r.ResidentKey, Preferred)
	// requireResidentKey is the equivalent for browsers of Level 1.
	requireResidentKey := residentKey == Required
	return protocol.AuthenticatorSelection{
		AuthenticatorAttachment: protocol.AuthenticatorAttachment(cmp.Or(c.config.Policy.Attachment, r.Attachment)),
		RequireResidentKey:      &requireResidentKey,
		ResidentKey:             protocol.ResidentKeyRequirement(residentKey),
		UserVerification:        protocol.UserVerificationRequirement(c.config.Policy.userVerification(r.UserVerification)),
	}
}

// parameters returns pubKeyCredParams: the algorithms, in order.
func parameters(algorithms []int64) []protocol.CredentialParameter {
	list := make([]protocol.CredentialParameter, len(algorithms))
	for i, alg := range algorithms {
		list[i] = protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.COSEAlgorithmIdentifier(alg)}
	}
	return list
}

// RegistrationResponse is the browser's answer, as base64url text. It has no client
// extension results: none are requested.
type RegistrationResponse struct {
	ID, ClientDataJSON, AttestationObject string
	Transports                            []string // response.getTransports(), optional
	Attachment                            string   // authenticatorAttachment, optional
	Name                                  string   // what the user calls the passkey; "" names it after its authenticator
}

// FinishRegistration verifies L3 §7.1 and returns the credential record to store. The
// store must reject a duplicate credential ID (step 26) in the transaction that adds the
// record.
func (c *Ceremonies) FinishRegistration(session json.RawMessage, r RegistrationResponse, now time.Time) (*schemas.Credential, error) {
	s, err := openSession(session, schemas.RegistrationCeremony, now)
	if err != nil {
		return nil, err
	}
	parsed, err := parseAttestation(r)
	if err != nil {
		return nil, err
	}
	if err := s.checkClientData(&parsed.Response.CollectedClientData, protocol.CreateCeremony); err != nil {
		c.warnOfOrigin(err, &parsed.Response.CollectedClientData)
		return nil, err
	}
	requireUV := s.RequireUV || c.config.Policy.UserVerification == Required
	data := &parsed.Response.AttestationObject.AuthData
	if err := s.checkAuthenticator(data, sha256.Sum256([]byte(s.RPID)), requireUV); err != nil {
		return nil, err
	}
	alg, err := checkKey(data.AttData.CredentialPublicKey, s.Algorithms)
	if err != nil {
		return nil, err
	}
	if err := c.checkAttestation(s, parsed, r.Attachment, requireUV); err != nil {
		return nil, err
	}
	credential := s.newCredential(parsed, r, alg, now)
	credential.Attested = c.isAttested(&parsed.Response.AttestationObject)
	return credential, nil
}

// newCredential returns the credential record of L3 §4 and §7.1 step 27.
func (s *session) newCredential(parsed *protocol.ParsedCredentialCreationData, r RegistrationResponse, alg int64, now time.Time) *schemas.Credential {
	object := &parsed.Response.AttestationObject
	data := &object.AuthData
	aaguid := uuid.UUID(data.AttData.AAGUID[:16]).String()
	attachment := r.Attachment
	if attachment != Platform && attachment != CrossPlatform {
		attachment = ""
	}
	return &schemas.Credential{
		ID:                schemas.Bytes(data.AttData.CredentialID),
		UserID:            s.UserID,
		Name:              cmp.Or(displayText(r.Name, maxNameBytes), AuthenticatorName(aaguid), "Passkey"),
		RPID:              s.RPID,
		PublicKey:         schemas.Bytes(data.AttData.CredentialPublicKey),
		Algorithm:         alg,
		AttestationFormat: object.Format,
		AAGUID:            aaguid,
		Attachment:        attachment,
		Transports:        transports(r.Transports),
		SignCount:         data.Counter,
		UserVerified:      data.Flags.HasUserVerified(),
		BackupEligible:    data.Flags.HasBackupEligible(),
		BackupState:       data.Flags.HasBackupState(),
		CreatedAt:         now.UTC(),
	}
}
