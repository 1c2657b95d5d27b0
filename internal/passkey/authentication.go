package passkey

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/postern-id/postern/schemas"
)

// AuthenticationRequest says who shall authenticate, and with what.
type AuthenticationRequest struct {
	// UserID is who must answer; "" lets anybody with a discoverable passkey.
	UserID string
	// Allow become allowCredentials, but for those of other relying parties: only
	// these may answer. None allows any passkey of the user.
	Allow []schemas.Credential
	// Decoys are listed instead if there is none to allow. They never verify, so
	// that the reply for a user who does not exist, or has no passkey, looks like
	// any other, and a session with decoys cannot be finished. See Decoys.
	Decoys []schemas.Credential
	// RPID replaces the configured relying party id, if not "".
	RPID string
	// Origins are allowed besides the configured ones.
	Origins []string
	// UserVerification is required, preferred ("" too) or discouraged; the
	// policy may raise it.
	UserVerification string
}

// BeginAuthentication returns PublicKeyCredentialRequestOptions (§5.5) and the
// session for FinishAuthentication.
func (c *Ceremonies) BeginAuthentication(r AuthenticationRequest) (options, session json.RawMessage, err error) {
	uv, err := c.policy.userVerification(r.UserVerification)
	if err != nil {
		return nil, nil, err
	}
	rp, err := c.relyingParty(r.RPID, r.Origins)
	if err != nil {
		return nil, nil, err
	}
	s, challenge, err := c.newSession(schemas.AuthenticationCeremony, rp, uv)
	if err != nil {
		return nil, nil, err
	}
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
		Timeout:            int(c.timeout.Milliseconds()),
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

// descriptors describes credentials in the order of their ids: by type, id and
// transports, without which browsers offer devices that do not hold them.
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

// likelyTransports are those that the client told when the credential was registered.
// Many do not tell: then they follow from whether the credential is synced, as every
// credential in a list having some is one thing less that sets decoys apart.
func likelyTransports(c *schemas.Credential) []string {
	switch reported := transports(c.Transports); {
	case len(reported) > 0:
		return reported
	case c.BackupEligible:
		return []string{"hybrid", "internal"}
	}
	return []string{"hybrid", "internal", "nfc", "usb"}
}

// AuthenticationResponse is the browser's answer, in the base64url text in
// which it came. UserHandle is optional where a user was named.
type AuthenticationResponse struct{ ID, ClientDataJSON, AuthenticatorData, Signature, UserHandle string }

// Verified is who authenticated, and how.
type Verified struct {
	UserID string
	// Credential is the record as it was stored before.
	Credential *schemas.Credential
	// Use is the change that records the authentication.
	Use schemas.UseCredential
	// UserVerified tells whether the authenticator verified who used it, by PIN
	// or biometrics, this time.
	UserVerified bool
	// Origin is that of the page where it happened, one of those allowed.
	Origin string
	// CounterRegressed tells that the signature counter did not grow, as a
	// cloned authenticator's would not, and the policy let that pass.
	CounterRegressed bool
	// Methods and ACR are its Assurance.
	Methods []string
	ACR     string
}

// FinishAuthentication verifies L3 §7.2 and returns who authenticated. It
// calls find once, and not at all for an answer that is refused without it.
//
// Steps that depend on the stored record come after the signature, so that
// their refusals tell nothing to somebody who does not hold the key.
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
		return nil, refuse(StepCredential, "the passkey is none of those that were asked for")
	}
	if err := s.checkClientData(&parsed.Response.CollectedClientData, protocol.AssertCeremony); err != nil {
		c.warnOfOrigin(err, &parsed.Response.CollectedClientData)
		return nil, err
	}
	requireUV := s.RequireUV || c.policy.UserVerification == Required
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

// findOwned finds the credential and checks that it is the user's: L3 §7.2 steps
// 5–7. For a decoy it returns a record that no signature satisfies, after the
// same look into the store, so that neither time nor text sets it apart.
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
		return nil, refuse(StepCredential, "the passkey is none of those that were asked for")
	}
	handle := string(parsed.Response.UserHandle)
	if handle == "" && s.UserID == "" && !s.listsCredentials() {
		return nil, refuse(StepUserHandle, "userHandle is missing: without a user name it is what tells who is signing in")
	}
	if handle != "" && handle != credential.UserID {
		return nil, refuse(StepUserHandle, "the passkey is made out to another user (userHandle)")
	}
	return credential, nil
}

// checkSignature has the library verify the assertion as a whole: what was
// checked before, once more, and the signature over it (L3 §7.2 steps 19–21).
func (s *session) checkSignature(parsed *protocol.ParsedCredentialAssertionData, credential *schemas.Credential, requireUV bool) error {
	err := parsed.Verify(s.Challenge, s.RPID, "", s.Origins, nil, nil, protocol.TopOriginExplicitVerificationMode, false, requireUV, true, credential.PublicKey, protocol.SignaturePolicy{})
	if err != nil || s.isDecoy(parsed.RawID) {
		return refuseQuietly(StepSignature, err, "the signature is not one of this passkey over this answer")
	}
	return nil
}

// verified takes the steps that compare with the stored record: L3 §7.2 steps
// 18 and 22–25 (BE unchanged, counter), and the policy.
func (c *Ceremonies) verified(parsed *protocol.ParsedCredentialAssertionData, credential *schemas.Credential, now time.Time) (*Verified, error) {
	data := &parsed.Response.AuthenticatorData
	synced := data.Flags.HasBackupEligible()
	if synced != credential.BackupEligible {
		return nil, refuse(StepBackup, "whether the passkey can be backed up (BE) has changed since it was registered, which it never may")
	}
	if err := c.policy.admitSynced(synced); err != nil {
		return nil, err
	}
	count := data.Counter
	regressed := (count != 0 || credential.SignCount != 0) && count <= credential.SignCount
	if regressed && c.policy.CounterRegression == Refuse {
		return nil, refuse(StepCounter, "the authenticator's signature counter did not grow, as that of a copied authenticator would not: remove this passkey and register a new one")
	}
	v := &Verified{
		UserID:     credential.UserID,
		Credential: credential,
		// The highest count ever seen is kept, so that a clone stays visible.
		Use:              schemas.UseCredential{ID: credential.ID, SignCount: max(count, credential.SignCount), BackupState: data.Flags.HasBackupState(), At: now.UTC(), MustGrow: c.policy.CounterRegression == Refuse},
		UserVerified:     data.Flags.HasUserVerified(),
		Origin:           parsed.Response.CollectedClientData.Origin,
		CounterRegressed: regressed,
	}
	v.Methods, v.ACR = Assurance(credential, v.UserVerified)
	return v, nil
}

// Assurance is what using a passkey says about the user: amr values (RFC 8176) and the
// class (acr). Possession (pop) of the passkey is one factor. If the authenticator
// verified its user (user), there were two (mfa).
//
// hwk says that the key never leaves hardware. An authenticator that is not attested
// can claim anything, so this takes an attestation that chained to one of the
// operator's trust anchors when the passkey was registered, and a passkey that cannot
// be backed up. swk says that the passkey can be synced.
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
