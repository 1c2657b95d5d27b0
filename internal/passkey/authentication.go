package passkey

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/postern-id/postern/schemas"
)

// AuthenticationRequest describes an authentication ceremony.
type AuthenticationRequest struct {
	// UserID is the user who must answer; "" accepts any discoverable passkey.
	UserID string
	// Allow becomes allowCredentials, except for credentials of other relying parties: only these
	// may answer. Empty accepts any passkey of the user.
	Allow []schemas.Credential
	// Decoys are listed if Allow is empty. They never verify, so that the reply for a user who does
	// not exist, or has no passkey, looks like any other, and a session with decoys cannot be
	// finished. See Decoys.
	Decoys []schemas.Credential
	// RPID replaces the configured relying party id unless it is "".
	RPID string
	// Origins are allowed in addition to the configured ones.
	Origins []string
	// UserVerification is required, preferred ("" too) or discouraged; the
	// policy may raise it.
	UserVerification string
}

// BeginAuthentication returns PublicKeyCredentialRequestOptions (§5.5) and the
// session for FinishAuthentication.
func (c *Ceremonies) BeginAuthentication(r AuthenticationRequest) (options, session json.RawMessage, err error) {
	if err := checkVerification(r.UserVerification); err != nil {
		return nil, nil, err
	}
	uv := c.config.Policy.userVerification(r.UserVerification)
	rp, err := c.relyingParty(r.RPID, r.Origins)
	if err != nil {
		return nil, nil, err
	}
	s, challenge := c.newSession(schemas.AuthenticationCeremony, rp, uv)
	// A passkey of another relying party cannot answer, so its id need not be shown.
	allow := slices.DeleteFunc(slices.Clone(r.Allow), func(c schemas.Credential) bool { return c.RPID != "" && c.RPID != rp.id })
	for i := range allow {
		allow[i].Transports = likelyTransports(&allow[i])
	}
	s.UserID, s.Allow = r.UserID, idsOf(allow)
	if len(allow) == 0 {
		allow, s.Decoys = r.Decoys, idsOf(r.Decoys)
	}
	return s.encode(protocol.PublicKeyCredentialRequestOptions{
		Challenge:          challenge,
		Timeout:            int(c.config.Timeout.Milliseconds()),
		RelyingPartyID:     rp.id,
		AllowedCredentials: descriptors(allow),
		UserVerification:   protocol.UserVerificationRequirement(uv),
	})
}

func idsOf(credentials []schemas.Credential) []schemas.Bytes {
	var ids []schemas.Bytes
	for _, c := range credentials {
		ids = append(ids, c.ID)
	}
	return ids
}

// descriptors lists credentials sorted by id, with type, id and transports. Without the transports,
// browsers offer devices that do not hold them.
func descriptors(credentials []schemas.Credential) []protocol.CredentialDescriptor {
	list := make([]protocol.CredentialDescriptor, len(credentials))
	for i, credential := range credentials {
		list[i] = protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: protocol.URLEncodedBase64(credential.ID)}
		for _, t := range transports(credential.Transports) {
			list[i].Transport = append(list[i].Transport, protocol.AuthenticatorTransport(t))
		}
	}
	slices.SortFunc(list, func(a, b protocol.CredentialDescriptor) int { return bytes.Compare(a.CredentialID, b.CredentialID) })
	return list
}

// likelyTransports returns the transports that the client reported at registration. If it reported
// none, they follow from whether the credential is synced: a list in which every credential has
// transports does not distinguish decoys.
func likelyTransports(c *schemas.Credential) []string {
	switch reported := transports(c.Transports); {
	case len(reported) > 0:
		return reported
	case c.BackupEligible:
		return []string{"hybrid", "internal"}
	}
	return []string{"hybrid", "internal", "nfc", "usb"}
}

// AuthenticationResponse is the browser's answer, as base64url text. UserHandle is optional if the
// request named a user.
type AuthenticationResponse struct{ ID, ClientDataJSON, AuthenticatorData, Signature, UserHandle string }

// Origin returns the origin that the browser states in the answer, "" if it states none. It is
// certain once the answer has verified.
func (r AuthenticationResponse) Origin() string {
	var client protocol.CollectedClientData
	text, err := base64.RawURLEncoding.DecodeString(r.ClientDataJSON)
	if err != nil || json.Unmarshal(text, &client) != nil {
		return ""
	}
	return client.Origin
}

// Verified is the result of an authentication.
type Verified struct {
	UserID string
	// Credential is the record as stored before.
	Credential *schemas.Credential
	// Use is the change that records the authentication.
	Use schemas.UseCredential
	// UserVerified reports whether the authenticator verified its user, with a PIN or biometrics.
	UserVerified bool
	// Origin is the allowed origin of the page.
	Origin string
	// CounterRegressed reports that the signature counter did not grow, as with a cloned
	// authenticator, and that the policy accepted it.
	CounterRegressed bool
	// EligibilityChanged reports that the backup eligibility differs from the registration, and that the policy
	// accepted it.
	EligibilityChanged bool
	// Methods and ACR are the Assurance.
	Methods []string
	ACR     string
}

// FinishAuthentication verifies L3 §7.2 and returns the result. It calls find at most once, and
// not at all for an answer that fails before.
//
// Steps that depend on the stored record come after the signature, so that their errors reveal
// nothing to a caller without the key.
func (c *Ceremonies) FinishAuthentication(ctx context.Context, session json.RawMessage, r AuthenticationResponse, find FindCredential, now time.Time) (*Verified, error) {
	s, err := openSession(session, schemas.AuthenticationCeremony, now)
	if err != nil {
		return nil, err
	}
	parsed, err := parseAssertion(r)
	if err != nil {
		return nil, err
	}
	if s.listsCredentials() && !contains(s.Allow, parsed.RawID) && !contains(s.Decoys, parsed.RawID) {
		return nil, refuse(StepCredential, "the passkey is not one of the requested passkeys")
	}
	if err := s.checkClientData(&parsed.Response.CollectedClientData, protocol.AssertCeremony); err != nil {
		c.warnOfOrigin(err, &parsed.Response.CollectedClientData)
		return nil, err
	}
	requireUV := s.RequireUV || c.config.Policy.UserVerification == Required
	if err := s.checkAuthenticator(&parsed.Response.AuthenticatorData, sha256.Sum256([]byte(s.RPID)), requireUV); err != nil {
		return nil, err
	}
	credential, err := s.findOwned(ctx, parsed, find)
	if err != nil {
		return nil, err
	}
	if err := s.checkSignature(parsed, credential, requireUV); err != nil {
		return nil, err
	}
	return c.verified(parsed, credential, now)
}

// findOwned finds the credential and checks that it belongs to the user: L3 §7.2 steps 5–7. For
// a decoy it returns a record that no signature satisfies, after the same look-up, so that neither
// time nor text distinguishes it.
func (s *session) findOwned(ctx context.Context, parsed *protocol.ParsedCredentialAssertionData, find FindCredential) (*schemas.Credential, error) {
	id := schemas.Bytes(parsed.RawID)
	credential, err := find(ctx, id)
	switch {
	case s.isDecoy(id):
		credential = &schemas.Credential{ID: id, UserID: s.UserID, PublicKey: decoyKey()}
	case schemas.HasCode(err, schemas.CodeCredentialNotFound) || err == nil && credential == nil:
		return nil, refuseUnknown(err)
	case err != nil:
		return nil, fmt.Errorf("find the passkey: %w", err)
	}
	if s.UserID != "" && credential.UserID != s.UserID {
		return nil, refuse(StepCredential, "the passkey is not one of the requested passkeys")
	}
	handle := string(parsed.Response.UserHandle)
	if handle == "" && s.UserID == "" && !s.listsCredentials() {
		return nil, refuse(StepUserHandle, "userHandle is missing: without a user name it identifies the user")
	}
	if handle != "" && handle != credential.UserID {
		return nil, refuse(StepUserHandle, "the passkey belongs to another user (userHandle); use another passkey")
	}
	return credential, nil
}

// checkSignature lets the library verify the assertion as a whole: the earlier checks again, and
// the signature (L3 §7.2 steps 19–21).
func (s *session) checkSignature(parsed *protocol.ParsedCredentialAssertionData, credential *schemas.Credential, requireUV bool) error {
	err := parsed.Verify(s.Challenge, s.RPID, "", s.Origins, s.Apps, nil, protocol.TopOriginExplicitVerificationMode, false, requireUV, true, credential.PublicKey, protocol.SignaturePolicy{})
	if err != nil || s.isDecoy(parsed.RawID) {
		return refuseQuietly(StepSignature, err, "the signature of the answer is not valid for this passkey")
	}
	return nil
}

// verified compares with the stored record: L3 §7.2 steps 18 and 22–25 (BE unchanged, counter),
// and the policy.
func (c *Ceremonies) verified(parsed *protocol.ParsedCredentialAssertionData, credential *schemas.Credential, now time.Time) (*Verified, error) {
	data := &parsed.Response.AuthenticatorData
	synced := data.Flags.HasBackupEligible()
	imported := credential.AttestationFormat == ImportedFormat
	changed := !imported && synced != credential.BackupEligible
	if changed && c.config.Policy.EligibilityChange == Refuse {
		return nil, refuseChanged(credential.UserID)
	}
	if imported || changed {
		known := *credential
		known.BackupEligible = synced || changed // once it could leave its device, there may be copies
		credential = &known
	}
	if err := c.config.Policy.admitSynced(credential.BackupEligible); err != nil {
		return nil, err
	}
	count := data.Counter
	regressed := (count != 0 || credential.SignCount != 0) && count <= credential.SignCount
	if regressed && c.config.Policy.CounterRegression == Refuse {
		return nil, refuseCopied(credential.UserID)
	}
	v := &Verified{
		UserID:     credential.UserID,
		Credential: credential,
		// The highest count ever seen is stored, so that a clone stays visible.
		Use:              schemas.UseCredential{ID: credential.ID, SignCount: max(count, credential.SignCount), BackupState: data.Flags.HasBackupState(), At: now.UTC(), MustGrow: c.config.Policy.CounterRegression == Refuse},
		UserVerified:     data.Flags.HasUserVerified(),
		Origin:           parsed.Response.CollectedClientData.Origin,
		CounterRegressed: regressed,

		EligibilityChanged: changed,
	}
	v.Methods, v.ACR = Assurance(credential, v.UserVerified)
	return v, nil
}

// ImportedFormat is the attestation format of a passkey that another server registered. Exports do
// not contain whether it can be backed up (BE), so that is taken from each answer.
const ImportedFormat = "imported"

// Assurance returns what using a passkey proves about the user: amr values (RFC 8176) and the class
// (acr). Possession (pop) of the passkey is one factor. If the authenticator verified its user
// (user), there were two (mfa).
//
// hwk states that the key never leaves hardware. An authenticator without attestation can claim
// anything, so hwk needs an attestation that chained to one of the operator's trust anchors when
// the passkey was registered, and a passkey that cannot be backed up. swk states that the passkey
// can be synced.
func Assurance(c *schemas.Credential, userVerified bool) (methods []string, acr string) {
	acr = schemas.ACRPhishingResistant
	switch {
	case c.BackupEligible:
		methods = []string{"swk"}
	case c.Attested:
		methods, acr = []string{"hwk"}, schemas.ACRPhishingResistantProtected
	}
	methods = append(methods, "pop")
	if userVerified {
		methods, acr = append(methods, "user", "mfa"), schemas.CombineACRs(acr, schemas.ACRMultiFactor)
	}
	return methods, acr
}
