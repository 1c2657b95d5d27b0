package passkeytest

import (
	"encoding/base64"
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
	ErrNoPasskey = errors.New("this authenticator holds no passkey that was asked for")
	// ErrUnsuitable: the authenticator does not fit the options.
	ErrUnsuitable = errors.New("this authenticator is not what the options ask for")
)

// Register answers creation options from a page of the origin and stores the new passkey. With an
// attestation other than "none" it uses its attestation key (AttestedBy) or self attestation
// (packed, L3 §8.2).
func (a *Authenticator) Register(opts json.RawMessage, origin string, hows ...CeremonyOption) (passkey.RegistrationResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var none passkey.RegistrationResponse
	c, err := newCall(hows, registration)
	if err != nil {
		return none, err
	}
	o, err := parseOptions(opts, origin)
	if err != nil {
		return none, err
	}
	credential, err := a.newCredential(c, o)
	if err != nil {
		return none, err
	}
	clientData, err := c.clientData("webauthn.create", o.Challenge, origin)
	if err != nil {
		return none, err
	}
	object, err := a.attest(c, o, credential, clientData)
	if err != nil {
		return none, err
	}
	if !c.has(TakenCredential) {
		a.credentials = append(a.credentials, credential)
	}
	id := credential.ID
	if c.has(ForeignCredential) {
		if id, err = a.bytes(len(id)); err != nil {
			return none, err
		}
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
func (a *Authenticator) newCredential(c *call, o *options) (*Credential, error) {
	if a.excluded(o) && !c.has(TakenCredential) {
		return nil, ErrExcluded
	}
	if want := o.Selection.Attachment; want != "" && want != a.attachment {
		return nil, fmt.Errorf("%w: attachment %s", ErrUnsuitable, want)
	}
	if a.noUV && o.Selection.UserVerification == "required" {
		return nil, fmt.Errorf("%w: user verification", ErrUnsuitable)
	}
	alg, err := a.algorithm(c, o)
	if err != nil {
		return nil, err
	}
	handle, err := base64.RawURLEncoding.DecodeString(o.User.ID)
	if err != nil {
		return nil, fmt.Errorf("read user.id: %w", err)
	}
	id, err := a.newID(c, o)
	if err != nil {
		return nil, err
	}
	k, err := newKey(alg, a.random)
	return &Credential{ID: id, RPID: o.RPID, UserHandle: handle, UserName: o.User.Name, key: k}, err
}

// excluded reports whether the authenticator holds a passkey of excludeCredentials.
func (a *Authenticator) excluded(o *options) bool {
	return slices.ContainsFunc(a.credentials, func(held *Credential) bool {
		return held.RPID == o.RPID && listed(o.Exclude, held.ID)
	})
}

// newID returns an id for a credential; with TakenCredential it is the id of the newest one.
func (a *Authenticator) newID(c *call, o *options) ([]byte, error) {
	if c.has(TakenCredential) {
		for _, held := range slices.Backward(a.credentials) {
			if held.RPID == o.RPID {
				return slices.Clone(held.ID), nil
			}
		}
		return nil, errors.New("taken-credential needs a device that holds a passkey")
	}
	id, err := a.bytes(32)
	if err == nil && c.has(OversizedID) {
		id = oversized(id)
	}
	return id, err
}

// algorithm picks the first offered algorithm that the authenticator knows.
func (a *Authenticator) algorithm(c *call, o *options) (int64, error) {
	if c.has(AlgNotOffered) {
		return algESP256, nil
	}
	for _, param := range o.Params {
		if slices.Contains(a.algorithms, param.Alg) {
			return param.Alg, nil
		}
	}
	return 0, fmt.Errorf("%w: algorithm", ErrUnsuitable)
}

// attest writes the attestation object (L3 §6.5.4).
func (a *Authenticator) attest(c *call, o *options, credential *Credential, clientData []byte) ([]byte, error) {
	cose, err := credential.key.cose()
	if err != nil {
		return nil, err
	}
	attested := slices.Concat(a.aaguid[:], uint16Bytes(len(credential.ID)), credential.ID, cose)
	authData := a.authData(c, o.RPID, credential.SignCount, attested)
	format, statement := "none", map[string]any{}
	if o.Attestation != "" && o.Attestation != "none" || c.has(BadSignature) {
		if format, statement, err = a.packed(c, credential, authData, clientData); err != nil {
			return nil, err
		}
	}
	if c.has(UnknownFormat) {
		format = "homemade"
	}
	if c.has(NoneWithStatement) {
		format, statement = "none", map[string]any{"sig": []byte("nothing")}
	}
	object, err := webauthncbor.Marshal(map[string]any{"fmt": format, "attStmt": statement, "authData": authData})
	if c.has(TrailingBytes) {
		object = append(object, 0)
	}
	return object, err
}

// packed returns a statement: basic if the authenticator has an attestation key, otherwise self
// attestation.
func (a *Authenticator) packed(c *call, credential *Credential, authData, clientData []byte) (string, map[string]any, error) {
	signer, chain := credential.key, []any(nil)
	if a.maker != nil {
		var err error
		if signer, chain, err = a.maker.attestation(); err != nil {
			return "", nil, err
		}
	}
	signature, err := c.signed(signer, authData, clientData)
	statement := map[string]any{"alg": signer.alg, "sig": signature}
	if chain != nil {
		statement["x5c"] = chain
	}
	return "packed", statement, err
}

// Authenticate answers request options from a page of the origin with the newest matching
// passkey.
func (a *Authenticator) Authenticate(opts json.RawMessage, origin string, hows ...CeremonyOption) (passkey.AuthenticationResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var none passkey.AuthenticationResponse
	c, err := newCall(hows, authentication)
	if err != nil {
		return none, err
	}
	o, err := parseOptions(opts, origin)
	if err != nil {
		return none, err
	}
	credential, err := a.choose(c, o)
	if err != nil {
		return none, err
	}
	if err := a.count(c, credential); err != nil {
		return none, err
	}
	clientData, err := c.clientData("webauthn.get", o.Challenge, origin)
	if err != nil {
		return none, err
	}
	authData := a.authData(c, o.RPID, credential.SignCount, nil)
	if c.has(TrailingBytes) {
		authData = append(authData, 0)
	}
	signer := credential.key
	if c.has(OtherKey) {
		if signer, err = newKey(algES256, a.random); err != nil {
			return none, err
		}
	}
	signature, err := c.signed(signer, authData, clientData)
	if err != nil {
		return none, err
	}
	id := credential.ID
	if c.has(OversizedID) {
		id = oversized(slices.Clone(id))
	}
	return passkey.AuthenticationResponse{
		ID:                encode(id),
		ClientDataJSON:    encode(clientData),
		AuthenticatorData: encode(authData),
		Signature:         encode(signature),
		UserHandle:        encode(c.userHandle(credential)),
	}, nil
}

// choose selects the newest passkey of the relying party that the options allow; with
// ForeignCredential it selects or generates one that they do not allow.
func (a *Authenticator) choose(c *call, o *options) (*Credential, error) {
	if a.noUV && o.UserVerification == "required" {
		return nil, fmt.Errorf("%w: user verification", ErrUnsuitable)
	}
	if c.has(UnknownCredential) {
		return a.foreignCredential(o)
	}
	for _, held := range slices.Backward(a.credentials) {
		asked := len(o.Allow) == 0 || listed(o.Allow, held.ID)
		theirs := c.user == "" || c.user == string(held.UserHandle)
		if held.RPID == o.RPID && theirs && asked != c.has(ForeignCredential) {
			return held, nil
		}
	}
	if !c.has(ForeignCredential) {
		return nil, ErrNoPasskey
	}
	return a.foreignCredential(o)
}

// foreignCredential generates an unregistered passkey.
func (a *Authenticator) foreignCredential(o *options) (*Credential, error) {
	id, err := a.bytes(32)
	if err != nil {
		return nil, err
	}
	k, err := newKey(algES256, a.random)
	return &Credential{ID: id, RPID: o.RPID, UserHandle: []byte("nobody"), key: k}, err
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
