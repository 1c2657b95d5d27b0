package passkeytest

import (
	"errors"
	"fmt"
	"slices"
)

// Fault names one thing that an answer gets wrong.
type Fault string

// The faults. Register and Authenticate refuse those that mean nothing there.
const (
	WrongOrigin       Fault = "wrong-origin"       // the page was https://evil.example
	WrongChallenge    Fault = "wrong-challenge"    // the answer is to another challenge
	WrongType         Fault = "wrong-type"         // webauthn.get where create was asked, or the reverse
	WrongRPID         Fault = "wrong-rpid"         // the authenticator answered for evil.example
	NoUP              Fault = "no-up"              // nobody was present
	NoUV              Fault = "no-uv"              // nobody was verified
	BadSignature      Fault = "bad-signature"      // one bit of the signature is wrong
	CounterRegress    Fault = "counter-regress"    // the counter did not grow (Authenticate)
	BSWithoutBE       Fault = "bs-without-be"      // backed up, though not eligible
	BEChanged         Fault = "be-changed"         // eligibility differs from registration (Authenticate)
	CrossOrigin       Fault = "cross-origin"       // made in a frame of another origin's page
	WrongUserHandle   Fault = "wrong-user-handle"  // somebody else's (Authenticate)
	NoUserHandle      Fault = "no-user-handle"     // none at all (Authenticate)
	ForeignCredential Fault = "foreign-credential" // Authenticate: a passkey outside allowCredentials; Register: an id that was not attested
	AlgNotOffered     Fault = "alg-not-offered"    // a key of another algorithm (Register)
	TrailingBytes     Fault = "trailing-bytes"     // one byte too many after the authenticator's data
	OversizedID       Fault = "oversized-id"       // a credential id of 1024 bytes
	Cancelled         Fault = "cancelled"          // the user declined: ErrCancelled
)

// ErrCancelled is what Register and Authenticate return when the user declines
// (in a browser, a NotAllowedError).
var ErrCancelled = errors.New("the user cancelled")

// Faults returns every fault there is.
func Faults() []Fault {
	return []Fault{
		WrongOrigin, WrongChallenge, WrongType, WrongRPID, NoUP, NoUV, BadSignature, CounterRegress, BSWithoutBE,
		BEChanged, CrossOrigin, WrongUserHandle, NoUserHandle, ForeignCredential, AlgNotOffered, TrailingBytes,
		OversizedID, Cancelled,
	}
}

// onlyRegister and onlyAuthenticate are the faults with a meaning in one
// ceremony alone.
func onlyRegister() []Fault { return []Fault{AlgNotOffered} }
func onlyAuthenticate() []Fault {
	return []Fault{CounterRegress, BEChanged, WrongUserHandle, NoUserHandle}
}

// How says how a single call shall differ: a Fault, or As.
type How interface{ apply(*call) }

// As answers with a passkey of the user (by user handle) where several fit.
func As(userID string) How { return as(userID) }

type as string

func (u as) apply(c *call)    { c.user = string(u) }
func (f Fault) apply(c *call) { c.faults = append(c.faults, f) }

// call is what one Register or Authenticate was told.
type call struct {
	faults []Fault
	user   string
}

// newCall gathers how a call differs and refuses faults that do not exist, or
// not in this ceremony.
func newCall(hows []How, meaningless []Fault) (*call, error) {
	var c call
	for _, how := range hows {
		how.apply(&c)
	}
	for _, f := range c.faults {
		if !slices.Contains(Faults(), f) {
			return nil, fmt.Errorf("there is no fault %q; there are %v", f, Faults())
		}
		if slices.Contains(meaningless, f) {
			return nil, fmt.Errorf("fault %q means nothing in this ceremony", f)
		}
	}
	if c.has(Cancelled) {
		return nil, ErrCancelled
	}
	return &c, nil
}

func (c *call) has(f Fault) bool { return slices.Contains(c.faults, f) }
