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
	// Allow become allowCredentials: only these may answer. None allows any
	// passkey of the user.
	Allow []schemas.Credential
	// Decoys are ids offered beside Allow that never verify, so that the reply
	// for a user who does not exist, or has no passkey, looks like any other.
	// A session with decoys and an empty Allow cannot be finished.
	Decoys []schemas.Bytes
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
	s.UserID, s.Decoys = r.UserID, r.Decoys
	for _, credential := range r.Allow {
		s.Allow = append(s.Allow, credential.ID)
	}
	return s.encode(protocol.PublicKeyCredentialRequestOptions{
		Challenge:          challenge,
		Timeout:            int(c.timeout.Milliseconds()),
		RelyingPartyID:     rp.id,
		AllowedCredentials: s.descriptors(),
		UserVerification:   protocol.UserVerificationRequirement(uv),
	})
}

// descriptors describes what the session lists, real ids and decoys alike: by
// type and id, sorted by id.
func (s *session) descriptors() []protocol.CredentialDescriptor {
	ids := slices.Concat(s.Allow, s.Decoys)
	slices.SortFunc(ids, func(a, b schemas.Bytes) int { return bytes.Compare(a, b) })
	list := make([]protocol.CredentialDescriptor, len(ids))
	for i, id := range ids {
		list[i] = descriptor(id)
	}
	return list
}

func descriptor(id schemas.Bytes) protocol.CredentialDescriptor {
	return protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: protocol.URLEncodedBase64(id)}
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
func (c *Ceremonies) FinishAuthentication(ctx context.Context, session json.RawMessage, r AuthenticationResponse, find CredentialByID, now time.Time) (*Verified, error) {
	s, err := openSession(session, schemas.AuthenticationCeremony, now)
	if err != nil {
		return nil, err
	}
	parsed, err := parseAssertion(r)
	if err != nil {
		return nil, err
	}
	if s.listed() && !contains(s.Allow, parsed.RawID) && !contains(s.Decoys, parsed.RawID) {
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
	credential, err := s.owned(ctx, parsed, find)
	if err != nil {
		return nil, err
	}
	if err := s.checkSignature(parsed, credential, requireUV); err != nil {
		return nil, err
	}
	return c.verified(parsed, credential, now)
}

// owned finds the credential and checks that it is the user's: L3 §7.2 steps
// 5–7. For a decoy it returns a record that no signature satisfies, after the
// same look into the store, so that neither time nor text sets it apart.
func (s *session) owned(ctx context.Context, parsed *protocol.ParsedCredentialAssertionData, find CredentialByID) (*schemas.Credential, error) {
	id := schemas.Bytes(parsed.RawID)
	credential, err := find(ctx, id)
	switch {
	case s.decoy(id):
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
	if handle == "" && s.UserID == "" && !s.listed() {
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
	if err != nil || s.decoy(parsed.RawID) {
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
	v.Methods, v.ACR = Assurance(synced, v.UserVerified)
	return v, nil
}

// Assurance is what having used a passkey says about whoever did: amr values
// (RFC 8176), hwk for a device-bound key or swk for one that can be synced, pop,
// and user if the authenticator verified its user; and acr, phrh or phr (OpenID
// Connect EAP ACR Values 1.0 §2).
func Assurance(synced, userVerified bool) (methods []string, acr string) {
	methods, acr = []string{"hwk", "pop"}, "phrh"
	if synced {
		methods[0], acr = "swk", "phr"
	}
	if userVerified {
		methods = append(methods, "user")
	}
	return methods, acr
}
