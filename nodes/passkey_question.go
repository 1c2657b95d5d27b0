package nodes

import (
	"encoding/json"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// passkeyAction is the action that starts a passkey ceremony in the browser.
const passkeyAction = "passkey"

// The inputs of a passkey's answer: the browser's values as base64url text.
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

// passkeyQuestion is a question that a browser's passkey answers. The first
// button starts the ceremony; required inputs come with the browser's answer.
type passkeyQuestion struct {
	label              string
	required, optional []string
	others             []button
}

// ask offers the options under the name in data. The session stays with the
// node: a client that could read it could answer it twice.
//
// An answer may leave out the action, since browsers' answers are told by
// their inputs.
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

// isAnswered reports whether the browser's values came, or some of them. Nothing
// of them means that the client wants to begin.
func (q passkeyQuestion) isAnswered(a *engine.Answer) bool {
	return slices.ContainsFunc(q.required, func(identifier string) bool { return a.Inputs[identifier] != "" })
}

// ceremonyFailure turns a ceremony that failed into the outcome failure, with the
// reason. An error that is no refusal stays one.
func ceremonyFailure(err error) (*engine.Decision, error) {
	e := schemas.AsError(err)
	if e.Class != schemas.Invalid && e.Class != schemas.Conflict {
		return nil, err
	}
	d := engine.LeaveBy("failure")
	d.Notice, d.Failed = e, true
	return d, nil
}

// allowedOrigins are those the application adds to the configured ones.
func allowedOrigins(v *engine.Visit) []string {
	if v.Application == nil {
		return nil
	}
	return v.Application.PasskeyAllowedOrigins
}
