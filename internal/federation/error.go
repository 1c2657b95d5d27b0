package federation

import (
	"errors"
	"fmt"
)

// Check is what a provider, or its answer, did not pass: a stable word.
type Check string

// The checks, in the order in which they are made.
const (
	CheckReachable Check = "reachable" // the provider answers
	CheckMetadata  Check = "metadata"  // it describes itself as OpenID Connect Discovery 1.0 §4 has it
	CheckSettings  Check = "settings"  // what is set for it here is what it was when the sign-in began
	CheckState     Check = "state"     // the answer is to this sign-in: RFC 6749 §10.12
	CheckSender    Check = "sender"    // the answer is of this provider: RFC 9207 §2.4
	CheckDenied    Check = "denied"    // the person did not decline: RFC 6749 §4.1.2.1, access_denied
	CheckResponse  Check = "response"  // the answer brings a code
	CheckToken     Check = "token"     // the provider takes the code, and gives an ID token for it
	CheckSignature Check = "signature" // the ID token is signed by a key of the provider
	CheckIssuer    Check = "issuer"    // OpenID Connect Core §3.1.3.7, as are those below
	CheckAudience  Check = "audience"
	CheckTime      Check = "time"
	CheckNonce     Check = "nonce"
	CheckHash      Check = "hash" // of the access token
	CheckAge       Check = "age"  // how long ago the person signed in there
	CheckSubject   Check = "subject"
)

// Error is why somebody could not sign in with a provider. What it says is for
// whoever runs this server. It quotes neither tokens nor what a provider says of
// people.
type Error struct {
	Check  Check
	Reason string
	Err    error // the cause, nil if it is that alone
}

// Error says what failed, and why.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Check, e.Reason) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func failf(check Check, format string, args ...any) *Error {
	return &Error{Check: check, Reason: fmt.Sprintf(format, args...)}
}

// unreachable words an error of a request to a provider.
func unreachable(what string, err error) error {
	if reported, ok := errors.AsType[*Error](err); ok {
		return reported
	}
	return &Error{Check: CheckReachable, Reason: fmt.Sprintf("%s: %v", what, err), Err: err}
}
