package server

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// credentialMember is the member of a finish with the browser's answer: RegistrationResponseJSON or
// AuthenticationResponseJSON of WebAuthn Level 3 §5.1. Browsers add members over time, so unknown
// ones are ignored; those that are read must have the right type. rawId repeats id and is not read.
const credentialMember = "publicKeyCredential"

// parseAttestation reads the answer to a registration.
func parseAttestation(raw json.RawMessage) (passkey.RegistrationResponse, []schemas.Problem) {
	credential, response := openCredential(raw)
	return passkey.RegistrationResponse{
		ID:                credential.need("id"),
		ClientDataJSON:    response.need("clientDataJSON"),
		AttestationObject: response.need("attestationObject"),
		Transports:        response.texts("transports"),
		Attachment:        credential.text("authenticatorAttachment"),
	}, credential.problems()
}

// parseAssertion reads the answer to an authentication.
func parseAssertion(raw json.RawMessage) (passkey.AuthenticationResponse, []schemas.Problem) {
	credential, response := openCredential(raw)
	return passkey.AuthenticationResponse{
		ID:                credential.need("id"),
		ClientDataJSON:    response.need("clientDataJSON"),
		AuthenticatorData: response.need("authenticatorData"),
		Signature:         response.need("signature"),
		UserHandle:        response.text("userHandle"),
	}, credential.problems()
}

func openCredential(raw json.RawMessage) (credential, response *object) {
	body := &object{members: map[string]json.RawMessage{}, bodyProblems: &bodyProblems{}}
	if len(raw) == 0 || string(raw) == "null" {
		body.faults = append(body.faults, missingMember(credentialMember, "what navigator.credentials returned, as JSON"))
	} else {
		body.members[credentialMember] = raw
	}
	credential = body.object(credentialMember)
	if kind := credential.text("type"); kind != "" && kind != "public-key" { // the only type, §5.8.2
		credential.fault("type", fmt.Sprintf(`expected "public-key", got %.64q`, kind))
	}
	return credential, credential.object("response")
}

// object reads members one by one and collects their faults. encoding/json would match names in any
// letter case and stop at the first fault.
type object struct {
	path    string
	members map[string]json.RawMessage
	*bodyProblems
}

// bodyProblems collects the faults of an object and of those inside it.
type bodyProblems struct{ faults, absent []schemas.Problem }

func (f *bodyProblems) problems() []schemas.Problem {
	return slices.Concat(f.faults, schemas.WithoutDuplicates(f.absent, f.faults))
}

func (o *object) fault(name, message string) {
	o.faults = append(o.faults, schemas.Problem{Path: schemas.JoinPath(o.path, name), Message: message})
}

// read decodes a member unless it is missing or null.
func (o *object) read(name, expected string, into any) {
	raw, ok := o.members[name]
	if ok && string(raw) != "null" && json.Unmarshal(raw, into) != nil {
		o.fault(name, "expected "+expected+", got "+shapeOf(raw))
	}
}

func (o *object) text(name string) (s string) {
	o.read(name, "a string", &s)
	return s
}

// need returns the text of a member that must not be missing or empty.
func (o *object) need(name string) string {
	s := o.text(name)
	if s == "" {
		o.absent = append(o.absent, missingMember(schemas.JoinPath(o.path, name), "base64url text from the browser's answer"))
	}
	return s
}

func (o *object) texts(name string) (list []string) {
	o.read(name, "a list of strings only", &list)
	return list
}

// object returns an inner object, an empty one if there is none.
func (o *object) object(name string) *object {
	inner := &object{path: schemas.JoinPath(o.path, name), bodyProblems: o.bodyProblems}
	o.read(name, "an object", &inner.members)
	return inner
}

// shapeOf names the type of a JSON value.
func shapeOf(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}
