package passkeytest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"github.com/postern-id/postern/internal/passkey"
)

// Reasons for which an authenticator or its browser declines.
var (
	// ErrExcluded: the authenticator already holds a passkey of excludeCredentials (in a browser,
	// an InvalidStateError).
	ErrExcluded = errors.New("this authenticator holds one of excludeCredentials")
	// ErrNoPasskey: it holds none of the requested passkeys (a NotAllowedError).
	ErrNoPasskey = errors.New("this authenticator holds none of the requested passkeys")
	// ErrUnsuitable: the authenticator does not fit the options.
	ErrUnsuitable = errors.New("this authenticator does not meet the options")
)

// Register answers creation options from a page of the origin and stores the new passkey. With an
// attestation other than "none" it uses its attestation key (AttestedBy) or self attestation
// (packed, L3 §8.2).
func (a *Authenticator) Register(opts json.RawMessage, origin string, hows ...CeremonyOption) (passkey.RegistrationResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, err := newCall(registration, opts, origin, hows)
	if err != nil {
		return passkey.RegistrationResponse{}, err
	}
	credential, err := a.newCredential(c)
	if err != nil {
		return passkey.RegistrationResponse{}, err
	}
	clientData := c.clientData("webauthn.create")
	object := a.attest(c, credential, clientData)
	if !c.has(TakenCredential) {
		a.credentials = append(a.credentials, credential)
	}
	id := credential.ID
	if c.has(ForeignCredential) {
		id = a.bytes(len(id))
	}
	return passkey.RegistrationResponse{
		ID:                encode(id),
		ClientDataJSON:    encode(clientData),
		AttestationObject: encode(object),
		Transports:        slices.Clone(a.transports),
		Attachment:        a.attachment,
	}, nil
}

// newCredential creates a credential for the options.
func (a *Authenticator) newCredential(c *call) (*Credential, error) {
	o := c.options
	excluded := func(held *Credential) bool { return held.RPID == o.RPID && listed(o.Exclude, held.ID) }
	if slices.ContainsFunc(a.credentials, excluded) && !c.has(TakenCredential) {
		return nil, ErrExcluded
	}
	if want := o.Selection.Attachment; want != "" && want != a.attachment {
		return nil, fmt.Errorf("%w: attachment %s", ErrUnsuitable, want)
	}
	if a.noUV && o.Selection.UserVerification == "required" {
		return nil, fmt.Errorf("%w: user verification", ErrUnsuitable)
	}
	alg, err := a.algorithm(c)
	if err != nil {
		return nil, err
	}
	handle, err := base64.RawURLEncoding.DecodeString(o.User.ID)
	if err != nil {
		return nil, fmt.Errorf("read user.id: %w", err)
	}
	id, err := a.newID(c)
	if err != nil {
		return nil, err
	}
	return &Credential{ID: id, RPID: o.RPID, UserHandle: handle, UserName: o.User.Name, key: newKey(alg, a.random)}, nil
}

// newID returns an id for a credential; with TakenCredential it is the id of the newest one.
func (a *Authenticator) newID(c *call) ([]byte, error) {
	if c.has(TakenCredential) {
		for _, held := range slices.Backward(a.credentials) {
			if held.RPID == c.options.RPID {
				return slices.Clone(held.ID), nil
			}
		}
		return nil, errors.New("taken-credential needs a device that holds a passkey")
	}
	id := a.bytes(32)
	if c.has(OversizedID) {
		id = oversized(id)
	}
	return id, nil
}

// algorithm picks the first offered algorithm that the authenticator knows.
func (a *Authenticator) algorithm(c *call) (int64, error) {
	if c.has(AlgNotOffered) {
		return algESP256, nil
	}
	for _, param := range c.options.Params {
		if slices.Contains(a.algorithms, param.Alg) {
			return param.Alg, nil
		}
	}
	return 0, fmt.Errorf("%w: algorithm", ErrUnsuitable)
}

// attest writes the attestation object (L3 §6.5.4).
func (a *Authenticator) attest(c *call, credential *Credential, clientData []byte) []byte {
	idLength := binary.BigEndian.AppendUint16(nil, uint16(len(credential.ID)))
	attested := slices.Concat(a.aaguid[:], idLength, credential.ID, credential.key.cose())
	authData := a.authData(c, credential.SignCount, attested)
	format, statement := "none", map[string]any{}
	if want := c.options.Attestation; want != "" && want != "none" || c.has(BadSignature) {
		format, statement = "packed", a.packed(c, credential, authData, clientData)
	}
	if c.has(UnknownFormat) {
		format = "homemade"
	}
	if c.has(NoneWithStatement) {
		format, statement = "none", map[string]any{"sig": []byte("nothing")}
	}
	object := must(webauthncbor.Marshal(map[string]any{"fmt": format, "attStmt": statement, "authData": authData}))
	if c.has(TrailingBytes) {
		object = append(object, 0)
	}
	return object
}

// packed returns a statement: basic if the authenticator has an attestation key, otherwise self
// attestation.
func (a *Authenticator) packed(c *call, credential *Credential, authData, clientData []byte) map[string]any {
	signer, statement := credential.key, map[string]any{}
	if a.maker != nil {
		signer, statement["x5c"] = a.maker.attestation()
	}
	statement["alg"], statement["sig"] = signer.alg, c.signed(signer, authData, clientData)
	return statement
}

// Authenticate answers request options from a page of the origin with the newest matching
// passkey.
func (a *Authenticator) Authenticate(opts json.RawMessage, origin string, hows ...CeremonyOption) (passkey.AuthenticationResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, err := newCall(authentication, opts, origin, hows)
	if err != nil {
		return passkey.AuthenticationResponse{}, err
	}
	credential, err := a.choose(c)
	if err == nil {
		err = a.count(c, credential)
	}
	if err != nil {
		return passkey.AuthenticationResponse{}, err
	}
	clientData, authData := c.clientData("webauthn.get"), a.authData(c, credential.SignCount, nil)
	if c.has(TrailingBytes) {
		authData = append(authData, 0)
	}
	signer := credential.key
	if c.has(OtherKey) {
		signer = newKey(algES256, a.random)
	}
	id := credential.ID
	if c.has(OversizedID) {
		id = oversized(slices.Clone(id))
	}
	return passkey.AuthenticationResponse{
		ID:                encode(id),
		ClientDataJSON:    encode(clientData),
		AuthenticatorData: encode(authData),
		Signature:         encode(c.signed(signer, authData, clientData)),
		UserHandle:        encode(c.userHandle(credential)),
	}, nil
}

// choose selects the newest passkey of the relying party that the options allow; with
// ForeignCredential it selects or generates one that they do not allow, and with UnknownCredential
// it generates an unregistered one.
func (a *Authenticator) choose(c *call) (*Credential, error) {
	o, foreign := c.options, c.has(ForeignCredential)
	if a.noUV && o.UserVerification == "required" {
		return nil, fmt.Errorf("%w: user verification", ErrUnsuitable)
	}
	for _, held := range slices.Backward(a.credentials) {
		asked := len(o.Allow) == 0 || listed(o.Allow, held.ID)
		theirs := c.user == "" || c.user == string(held.UserHandle)
		if held.RPID == o.RPID && theirs && asked != foreign && !c.has(UnknownCredential) {
			return held, nil
		}
	}
	if !foreign && !c.has(UnknownCredential) {
		return nil, ErrNoPasskey
	}
	return &Credential{ID: a.bytes(32), RPID: o.RPID, UserHandle: []byte("nobody"), key: newKey(algES256, a.random)}, nil
}

// count increments the counter for the next signature.
func (a *Authenticator) count(c *call, credential *Credential) error {
	switch {
	case c.has(CounterRegress) && credential.SignCount == 0:
		return errors.New("counter-regress needs an authenticator that counts, and an authentication before")
	case c.has(CounterRegress) || !a.counting:
		return nil
	}
	credential.SignCount++
	return nil
}

func (c *call) userHandle(credential *Credential) []byte {
	switch {
	case c.has(NoUserHandle):
		return nil
	case c.has(WrongUserHandle):
		return []byte("somebody-else")
	}
	return credential.UserHandle
}
