package federation

import (
	"errors"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// Check is the check that a provider or its response failed: a stable word.
type Check string

// The checks, in the order in which they are made.
const (
	CheckReachable Check = "reachable" // the provider responds
	CheckMetadata  Check = "metadata"  // the metadata complies with OpenID Connect Discovery 1.0 §4
	CheckSettings  Check = "settings"  // the configuration has not changed since the sign-in began
	CheckState     Check = "state"     // the response is for this sign-in: RFC 6749 §10.12
	CheckSender    Check = "sender"    // the response is from this provider: RFC 9207 §2.4
	CheckDenied    Check = "denied"    // the user did not decline: RFC 6749 §4.1.2.1, access_denied
	CheckResponse  Check = "response"  // the response contains a code
	CheckToken     Check = "token"     // the provider accepts the code and returns an ID token
	CheckSignature Check = "signature" // a key of the provider signed the ID token
	CheckIssuer    Check = "issuer"    // OpenID Connect Core §3.1.3.7, like those below
	CheckAudience  Check = "audience"
	CheckTime      Check = "time"
	CheckNonce     Check = "nonce"
	CheckHash      Check = "hash" // of the access token
	CheckAge       Check = "age"  // how long ago the user authenticated
	CheckSubject   Check = "subject"
	CheckUserinfo  Check = "userinfo" // the response of userinfo is about the same user: OpenID Connect Core §5.3.2
)

// Error is the reason why a sign-in with a provider failed, for the operator of this
// server. It contains neither tokens nor claims about users.
type Error struct {
	Check  Check
	Reason string
	Err    error // the cause, nil for none
}

// Error returns the check that failed and the reason.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Check, e.Reason) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func failf(check Check, format string, args ...any) *Error {
	return &Error{Check: check, Reason: fmt.Sprintf(format, args...)}
}

// unreachable returns the error of a failed request to a provider.
func unreachable(what string, err error) error {
	if reported, ok := errors.AsType[*Error](err); ok {
		return reported
	}
	reason := err.Error()
	if reported, ok := errors.AsType[*schemas.Error](err); ok {
		reason = reported.Description.DefaultValue // without the code, which is about the request of this server
	}
	return &Error{Check: CheckReachable, Reason: what + ": " + reason, Err: err}
}

// Checks lists the checks, in the order in which they are made.
func Checks() []Check {
	return []Check{
		CheckReachable, CheckMetadata, CheckSettings, CheckState, CheckSender, CheckDenied, CheckResponse, CheckToken, CheckSignature,
		CheckIssuer, CheckAudience, CheckTime, CheckNonce, CheckHash, CheckAge, CheckSubject, CheckUserinfo,
	}
}
