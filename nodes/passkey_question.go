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

// passkeyQuestion is a step that a passkey answers. The first button starts the ceremony; required
// inputs come with the browser's answer.
type passkeyQuestion struct {
	label              string
	required, optional []string
	others             []button
}

// ask offers the options under name in data. The session stays with the node: a client that could
// read it could answer it twice.
//
// An answer can leave out the action, because the inputs identify it.
func (q passkeyQuestion) ask(name string, options, session json.RawMessage) *engine.Decision {
	f := form{buttons: append([]button{{ref: passkeyAction, label: q.label, event: schemas.TriggerEvent}}, q.others...)}
	for _, identifier := range q.required {
		f.fields = append(f.fields, field{Identifier: identifier, Type: schemas.HiddenInput, Required: true})
	}
	for _, identifier := range q.optional {
		f.fields = append(f.fields, field{Identifier: identifier, Type: schemas.HiddenInput})
	}
	ask := f.ask()
	ask.Implicit = true
	ask.Data = map[string]string{name: string(options)}
	return &engine.Decision{Ask: ask, NodeState: session}
}

// isAnswered reports whether the answer contains any of the browser's values. Without them the
// client wants to start the ceremony.
func (q passkeyQuestion) isAnswered(a *engine.Answer) bool {
	return slices.ContainsFunc(q.required, func(identifier string) bool { return a.Inputs[identifier] != "" })
}

// ceremonyFailure converts a failed ceremony to the outcome failure with its reason. Other errors
// are returned unchanged.
func ceremonyFailure(err error) (*engine.Decision, error) {
	e := schemas.AsError(err)
	if e.Class != schemas.Invalid && e.Class != schemas.Conflict {
		return nil, err
	}
	d := engine.LeaveBy("failure")
	d.Notice, d.Failed = e, true
	return d, nil
}

// allowedOrigins returns the origins that the application adds to the configured ones.
func allowedOrigins(v *engine.Visit) []string {
	if v.Application == nil {
		return nil
	}
	return v.Application.PasskeyAllowedOrigins
}
