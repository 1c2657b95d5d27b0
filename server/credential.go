package server

import (
	"encoding/json"
	"fmt"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// publicKeyCredential is a browser's answer as it travels in a finish request:
// RegistrationResponseJSON or AuthenticationResponseJSON of WebAuthn Level 3
// §5.1, of which all but the members below may be left out, and to which
// browsers add as they grow. rawId says what id says, and is not read.
type publicKeyCredential struct {
	id, attachment                    string
	clientDataJSON, attestationObject string
	authenticatorData, signature      string
	userHandle                        string
	transports                        []string
}

// parseCredential ignores members it does not know. Those it knows must be what
// they should be; null counts as left out.
func parseCredential(raw json.RawMessage) (*publicKeyCredential, error) {
	const member = "publicKeyCredential"
	if len(raw) == 0 || string(raw) == "null" {
		return nil, invalid(missing(member, "what navigator.credentials returned"))
	}
	body := &object{members: map[string]json.RawMessage{member: raw}}
	credential := body.object(member)
	response := credential.object("response")
	var c publicKeyCredential
	kind := credential.text("type")
	if kind != "" && kind != "public-key" { // the only type there is, §5.8.2
		credential.fault("type", fmt.Sprintf(`expected "public-key", got %.64q`, kind))
	}
	c.id, c.attachment = credential.text("id"), credential.text("authenticatorAttachment")
	c.clientDataJSON, c.attestationObject = response.text("clientDataJSON"), response.text("attestationObject")
	c.authenticatorData, c.signature = response.text("authenticatorData"), response.text("signature")
	c.userHandle, c.transports = response.text("userHandle"), response.texts("transports")
	if body.faults = append(body.faults, append(credential.faults, response.faults...)...); len(body.faults) > 0 {
		return nil, invalid(body.faults...)
	}
	return &c, nil
}

func (c *publicKeyCredential) registration(name string) passkey.RegistrationResponse {
	return passkey.RegistrationResponse{
		ID:                c.id,
		ClientDataJSON:    c.clientDataJSON,
		AttestationObject: c.attestationObject,
		Transports:        c.transports,
		Attachment:        c.attachment,
		Name:              name,
	}
}

func (c *publicKeyCredential) authentication() passkey.AuthenticationResponse {
	return passkey.AuthenticationResponse{
		ID:                c.id,
		ClientDataJSON:    c.clientDataJSON,
		AuthenticatorData: c.authenticatorData,
		Signature:         c.signature,
		UserHandle:        c.userHandle,
	}
}

// object reads members one by one and collects what is wrong with them.
// encoding/json alone would match names in any letter case and stop at the
// first fault.
type object struct {
	path    string
	members map[string]json.RawMessage
	faults  []schemas.Problem
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

func (o *object) texts(name string) (list []string) {
	o.read(name, "a list of nothing but strings", &list)
	return list
}

// object returns an inner object, an empty one if there is none.
func (o *object) object(name string) *object {
	inner := &object{path: schemas.JoinPath(o.path, name)}
	o.read(name, "an object", &inner.members)
	return inner
}

// shapeOf names the kind of a JSON value.
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
