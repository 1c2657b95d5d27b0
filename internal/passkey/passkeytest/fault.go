package passkeytest

import (
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

// ceremonies is a set of ceremonies.
type ceremonies uint8

const (
	registration ceremonies = 1 << iota
	authentication
	both = registration | authentication
)

func (c ceremonies) String() string {
	return [...]string{registration: "registration", authentication: "authentication", both: "both"}[c]
}

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
	in := func(c ceremonies, f Fault, doc string) Description { return Description{f, c.String(), doc} }
	return []Description{
		in(both, Canceled, "answers nothing, because the person declines"),
		in(both, ForeignCredential, "answers with a passkey of the device that was not requested, or with an unregistered one; a new passkey has an id that was not attested"),
		in(authentication, UnknownCredential, "answers with an unregistered passkey"),
		in(authentication, WrongUserHandle, "names another user as the passkey's user"),
		in(authentication, NoUserHandle, "names no user"),
		in(both, NotUTF8, "sends client data that is not UTF-8"),
		in(both, NotJSON, "sends client data that is not JSON"),
		in(both, WrongType, "says webauthn.get where webauthn.create was asked, or the reverse"),
		in(both, WrongChallenge, "answers another challenge"),
		in(both, WrongOrigin, "was used on https://evil.example"),
		in(both, CrossOrigin, "was used in a frame inside a page of another origin (crossOrigin)"),
		in(both, TopOrigin, "names an origin around its own (topOrigin)"),
		in(both, WrongRPID, "answers for the relying party evil.example"),
		in(both, NoUP, "has not seen a user present (flag UP)"),
		in(both, NoUV, "has not verified its user (flag UV)"),
		in(both, BSWithoutBE, "says that the passkey is backed up though it cannot be (flags BS, BE)"),
		in(authentication, BEChanged, "says otherwise than at registration whether the passkey can be backed up (flag BE)"),
		in(both, NoExtensionData, "announces extension data that does not follow (flag ED)"),
		in(authentication, ShortData, "sends authenticator data that ends too soon"),
		in(both, TrailingBytes, "sends one byte too many after the authenticator's data"),
		in(registration, NoAttestedData, "sends no attested credential data (flag AT)"),
		in(registration, AlgNotOffered, "makes a key of an algorithm that was not offered"),
		in(both, OversizedID, "sends a credential id of 1024 bytes"),
		in(registration, UnknownFormat, "attests in an unknown format"),
		in(registration, NoneWithStatement, "attests nothing (format none), yet sends a statement"),
		in(both, BadSignature, "gets one bit of the signature wrong: of the assertion, or of the attestation"),
		in(authentication, OtherKey, "signs with a key that is not the passkey's"),
		in(authentication, CounterRegress, "counts no further than the last time, as a copy would"),
		in(registration, TakenCredential, "registers the id of a passkey again that the device holds already, whatever excludeCredentials says"),
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

// call contains the options of one Register or Authenticate call.
type call struct {
	faults []Fault
	user   string
}

// newCall collects the options of a call, and rejects faults that are unknown or have no
// meaning in the ceremony.
func newCall(hows []CeremonyOption, ceremony ceremonies) (*call, error) {
	var c call
	for _, how := range hows {
		how.apply(&c)
	}
	all := Catalog()
	for _, f := range c.faults {
		i := slices.IndexFunc(all, func(d Description) bool { return d.Fault == f })
		if i < 0 {
			return nil, fmt.Errorf("there is no fault %q; there are %v", f, Faults())
		}
		if in := all[i].Ceremony; in != both.String() && in != ceremony.String() {
			return nil, fmt.Errorf("fault %q means nothing in this ceremony, only in %s", f, in)
		}
	}
	if c.has(Canceled) {
		return nil, ErrCanceled
	}
	return &c, nil
}

func (c *call) has(f Fault) bool { return slices.Contains(c.faults, f) }
