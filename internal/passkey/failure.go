package passkey

import (
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/postern-id/postern/schemas"
)

// Step is a step of a ceremony's verification.
type Step string

// The steps, in order.
const (
	StepCeremony     Step = "ceremony"          // the session is of this ceremony
	StepExpiry       Step = "expiry"            // the session has not expired
	StepResponse     Step = "response"          // base64url, JSON and CBOR are well formed and within bounds
	StepCredential   Step = "credential"        // the credential was asked for, is known, and is the user's
	StepType         Step = "type"              // clientData.type
	StepChallenge    Step = "challenge"         // clientData.challenge
	StepOrigin       Step = "origin"            // clientData.origin is allowed and under the RP ID
	StepCrossOrigin  Step = "cross_origin"      // clientData.crossOrigin and topOrigin
	StepRelyingParty Step = "relying_party"     // authData.rpIdHash
	StepPresence     Step = "user_presence"     // the UP flag
	StepVerification Step = "user_verification" // the UV flag
	StepBackup       Step = "backup"            // the BE and BS flags
	StepUserHandle   Step = "user_handle"       // response.userHandle
	StepAlgorithm    Step = "algorithm"         // the algorithm of the new key was offered
	StepAttestation  Step = "attestation"       // the attestation statement
	StepSignature    Step = "signature"         // the assertion's signature
	StepCounter      Step = "counter"           // authData.signCount
	StepPolicy       Step = "policy"            // the operator's Policy
)

// FailedStep returns the step that failed in a ceremony, or "" for another error.
func FailedStep(err error) Step {
	var f *failure
	if errors.As(err, &f) {
		return f.step
	}
	return ""
}

// CopiedOf returns the user whose passkey may have been copied: its signature was right, and its counter
// did not increase, or its backup eligibility changed. For another error it returns "".
func CopiedOf(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.copiedOf
	}
	return ""
}

// failure is the cause of a failed ceremony: the step, and the library's message for the log.
type failure struct {
	step     Step
	cause    error
	copiedOf string // see CopiedOf
}

func (f *failure) Error() string {
	if f.cause == nil {
		return "failed at " + string(f.step)
	}
	return fmt.Sprintf("failed at %s: %v", f.step, f.cause)
}

func (f *failure) Unwrap() error { return f.cause }

// refuse returns the error of a verification that failed at step. A %w operand is kept for the log;
// its text is part of the description, so it must be safe to show.
func refuse(step Step, format string, args ...any) error {
	e := schemas.Errorf(schemas.Invalid, schemas.CodePasskeyFailed, format, args...)
	e.Err = &failure{step: step, cause: e.Err}
	return e
}

// refuseCopied returns the error for a passkey of a user that may have been copied.
func refuseCopied(userID string) error {
	e := schemas.Errorf(schemas.Invalid, schemas.CodePasskeyFailed,
		"the authenticator's signature counter did not increase; the authenticator may have been copied: remove this passkey and register a new one")
	e.Err = &failure{step: StepCounter, copiedOf: userID}
	return e
}

// refuseChanged returns the error for a passkey of a user whose backup eligibility changed.
func refuseChanged(userID string) error {
	e := schemas.Errorf(schemas.Invalid, schemas.CodePasskeyFailed,
		"the backup eligibility (BE) of the passkey differs from its registration; it must never change: remove this passkey and register a new one, or have the operator set passkey.eligibility_change to allow")
	e.Err = &failure{step: StepBackup, copiedOf: userID}
	return e
}

// refuseQuietly is refuse with a cause for the log alone.
func refuseQuietly(step Step, cause error, format string, args ...any) error {
	e := schemas.Errorf(schemas.Invalid, schemas.CodePasskeyFailed, format, args...)
	e.Err = &failure{step: step, cause: cause}
	return e
}

// refuseUnknown is the error for an unknown passkey. Pages recognize it by the key of its
// description and let the browser remove the passkey (signalUnknownCredential, L3 §5.1.10). It
// must not be used for another user's passkey: that would disappear from its holder's device.
func refuseUnknown(cause error) error {
	e := schemas.Errorf(schemas.Invalid, schemas.CodePasskeyFailed, "this passkey is unknown: it may have been removed; use another one")
	e.Message.DefaultValue = "This passkey is no longer known. Use another one, or sign in another way."
	e.Description.Key = unknownKey
	e.Err = &failure{step: StepCredential, cause: cause}
	return e
}

const unknownKey = "error.unknown_passkey"

// IsUnknown reports whether a ceremony failed because the passkey is not stored.
func IsUnknown(err error) bool {
	var e *schemas.Error
	return errors.As(err, &e) && e.Description.Key == unknownKey
}

// Steps lists the steps, in order.
func Steps() []Step {
	return []Step{
		StepCeremony, StepExpiry, StepResponse, StepCredential, StepType, StepChallenge, StepOrigin, StepCrossOrigin, StepRelyingParty,
		StepPresence, StepVerification, StepBackup, StepUserHandle, StepAlgorithm, StepAttestation, StepSignature, StepCounter, StepPolicy,
	}
}

// badRequest is the error of a Begin with an option that does not exist.
func badRequest(format string, args ...any) error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, format, args...)
}

// libraryMessage returns the library's message: the innermost error, cut to one line. It names
// formats, lengths and certificate fields, and can quote what the client sent.
func libraryMessage(err error) string {
	var e *protocol.Error
	for inner := err; errors.As(inner, &e); inner = e.Err {
	}
	switch {
	case e == nil:
		return fmt.Sprintf("%.300s", err.Error())
	case e.DevInfo == "":
		return fmt.Sprintf("%.300s", e.Details)
	}
	return fmt.Sprintf("%.300s: %.300s", e.Details, e.DevInfo)
}
