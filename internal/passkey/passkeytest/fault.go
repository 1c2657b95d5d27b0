package passkeytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Fault names one error in an answer.
type Fault string

// The faults. Register and Authenticate reject those without a meaning in their ceremony;
// Catalog describes each.
const (
	WrongOrigin       Fault = "wrong-origin"
	WrongChallenge    Fault = "wrong-challenge"
	WrongType         Fault = "wrong-type"
	NotUTF8           Fault = "client-data-not-utf8"
	NotJSON           Fault = "client-data-not-json"
	CrossOrigin       Fault = "cross-origin"
	TopOrigin         Fault = "top-origin"
	WrongRPID         Fault = "wrong-rpid"
	NoUP              Fault = "no-up"
	NoUV              Fault = "no-uv"
	BSWithoutBE       Fault = "bs-without-be"
	BEChanged         Fault = "be-changed"
	CounterRegress    Fault = "counter-regress"
	NoExtensionData   Fault = "no-extension-data"
	ShortData         Fault = "short-data"
	TrailingBytes     Fault = "trailing-bytes"
	BadSignature      Fault = "bad-signature"
	OtherKey          Fault = "other-key"
	WrongUserHandle   Fault = "wrong-user-handle"
	NoUserHandle      Fault = "no-user-handle"
	ForeignCredential Fault = "foreign-credential"
	UnknownCredential Fault = "unknown-credential"
	TakenCredential   Fault = "taken-credential"
	OversizedID       Fault = "oversized-id"
	NoAttestedData    Fault = "no-attested-data"
	AlgNotOffered     Fault = "alg-not-offered"
	UnknownFormat     Fault = "unknown-format"
	NoneWithStatement Fault = "none-with-statement"
	Canceled          Fault = "cancelled"
)

// ErrCanceled is the error of Register and Authenticate if the user declines (in a
// browser, a NotAllowedError).
var ErrCanceled = errors.New("the user canceled")

// The ceremonies in which a fault has a meaning.
const (
	registration   = "registration"
	authentication = "authentication"
	both           = "both"
)

// Description describes a fault, and the ceremony in which it has a meaning:
// "registration", "authentication" or "both".
type Description struct {
	Fault    Fault
	Ceremony string
	Doc      string
}

// Catalog describes every fault, in the order of the steps of Web Authentication Level 3
// §7.1 and §7.2 that they violate.
func Catalog() []Description {
	return []Description{
		{Canceled, both, "returns no answer because the user declines"},
		{ForeignCredential, both, "answers with a passkey of the device that was not requested, or with an unregistered one; a new passkey has an id that was not attested"},
		{UnknownCredential, authentication, "answers with an unregistered passkey"},
		{WrongUserHandle, authentication, "names another user as the passkey's user"},
		{NoUserHandle, authentication, "names no user"},
		{NotUTF8, both, "sends client data that is not UTF-8"},
		{NotJSON, both, "sends client data that is not JSON"},
		{WrongType, both, "sends webauthn.get instead of webauthn.create, or the reverse"},
		{WrongChallenge, both, "sends another challenge"},
		{WrongOrigin, both, "was used on https://evil.example"},
		{CrossOrigin, both, "was used in a frame inside a page of another origin (crossOrigin)"},
		{TopOrigin, both, "names a top-level origin other than its own (topOrigin)"},
		{WrongRPID, both, "answers for the relying party evil.example"},
		{NoUP, both, "reports no user presence (flag UP)"},
		{NoUV, both, "reports no user verification (flag UV)"},
		{BSWithoutBE, both, "reports a backup of a passkey that is not backup eligible (flags BS, BE)"},
		{BEChanged, authentication, "reports another backup eligibility than at registration (flag BE)"},
		{NoExtensionData, both, "announces extension data but sends none (flag ED)"},
		{ShortData, authentication, "sends truncated authenticator data"},
		{TrailingBytes, both, "sends an extra byte after the authenticator data"},
		{NoAttestedData, registration, "sends no attested credential data (flag AT)"},
		{AlgNotOffered, registration, "creates a key with an algorithm that was not offered"},
		{OversizedID, both, "sends a credential id of 1024 bytes"},
		{UnknownFormat, registration, "sends an attestation in an unknown format"},
		{NoneWithStatement, registration, "sends an attestation statement with the format none"},
		{BadSignature, both, "flips one bit of the signature of the assertion or attestation"},
		{OtherKey, authentication, "signs with a key other than the passkey's"},
		{CounterRegress, authentication, "sends a signature counter that did not increase, like a clone"},
		{TakenCredential, registration, "registers the id of a passkey that it already holds, whatever excludeCredentials says"},
	}
}

// Faults returns every fault.
func Faults() []Fault {
	var list []Fault
	for _, d := range Catalog() {
		list = append(list, d.Fault)
	}
	return list
}

// CeremonyOption changes a single call: a Fault, or As.
type CeremonyOption interface{ apply(*call) }

// As selects a passkey of the user (by user handle) if several match.
func As(userID string) CeremonyOption { return as(userID) }

type as string

func (u as) apply(c *call)    { c.user = string(u) }
func (f Fault) apply(c *call) { c.faults = append(c.faults, f) }

// call is one Register or Authenticate call.
type call struct {
	options *options
	origin  string
	faults  []Fault
	user    string
}

// newCall reads the options of a call, and rejects faults that are unknown or have no
// meaning in the ceremony.
func newCall(ceremony string, opts json.RawMessage, origin string, hows []CeremonyOption) (*call, error) {
	c := call{origin: origin}
	for _, how := range hows {
		how.apply(&c)
	}
	all := Catalog()
	for _, f := range c.faults {
		i := slices.IndexFunc(all, func(d Description) bool { return d.Fault == f })
		if i < 0 {
			return nil, fmt.Errorf("there is no fault %q; there are %v", f, Faults())
		}
		if in := all[i].Ceremony; in != both && in != ceremony {
			return nil, fmt.Errorf("fault %q means nothing in this ceremony, only in %s", f, in)
		}
	}
	if c.has(Canceled) {
		return nil, ErrCanceled
	}
	var err error
	c.options, err = parseOptions(opts, origin)
	return &c, err
}

func (c *call) has(f Fault) bool { return slices.Contains(c.faults, f) }
