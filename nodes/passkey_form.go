package nodes

import (
	"encoding/json"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// passkeyAction is the action that starts a passkey ceremony in the browser.
const passkeyAction = "passkey"

// The inputs of a passkey's answer: the browser's values in base64url.
const (
	credentialIDInput      = "credentialId"
	clientDataInput        = "clientDataJSON"
	attestationInput       = "attestationObject"
	credentialNameInput    = "credentialName"
	attachmentInput        = "authenticatorAttachment"
	transportsInput        = "transports" // separated by spaces
	authenticatorDataInput = "authenticatorData"
	signatureInput         = "signature"
	userHandleInput        = "userHandle"
)

// newPasskeyForm returns the form of a step that a passkey answers. The first button starts the
// ceremony; the fields come with the browser's answer.
func newPasskeyForm(label string, fields []field, others []button) form {
	return form{fields: fields, buttons: append([]button{{ref: passkeyAction, label: label, event: schemas.TriggerEvent}}, others...)}
}

// askPasskey offers the options under name in data. The session stays with the node: a client that
// could read it could answer it twice.
//
// An answer can leave out the action, because the inputs identify it.
func (f form) askPasskey(name string, options, session json.RawMessage) *engine.Decision {
	ask := f.ask()
	ask.Implicit = true
	ask.Data = map[string]string{name: string(options)}
	return &engine.Decision{Ask: ask, NodeState: session}
}

// isAnswered reports whether the answer contains any of the browser's values. Without them the
// client wants to start the ceremony.
func (f form) isAnswered(a *engine.Answer) bool {
	return a != nil && slices.ContainsFunc(f.fields, func(in field) bool { return in.Required && a.Inputs[in.Identifier] != "" })
}

// ceremonyFailure converts a failed ceremony to the outcome failure with its reason. Other errors
// are returned unchanged.
func ceremonyFailure(err error) (*engine.Decision, error) {
	e := schemas.AsError(err)
	if e.Class != schemas.Invalid && e.Class != schemas.Conflict {
		return nil, err
	}
	return leaveFailed(e), nil
}

// leaveFailed leaves by failure after a failed attempt to prove something.
func leaveFailed(why *schemas.Error) *engine.Decision {
	return &engine.Decision{Outcome: failureOutcome, Failed: true, Notice: why}
}

// allowedOrigins returns the origins that the application adds to the configured ones.
func allowedOrigins(v *engine.Visit) []string {
	if v.Application == nil {
		return nil
	}
	return v.Application.PasskeyAllowedOrigins
}
