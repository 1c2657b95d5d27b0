package schemas

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Class is the kind of failure of an Error. The HTTP server maps each class to one status code.
type Class int

// The classes of failure, with the HTTP status each one becomes.
const (
	Internal        Class = iota // 500: our fault; the client learns only the trace id
	Invalid                      // 400: malformed or invalid request
	Unauthenticated              // 401: no token, or one that is not valid here
	Forbidden                    // 403: a valid token that lacks the permission
	NotFound                     // 404: the resource named in the path does not exist
	Conflict                     // 409: duplicate, in use, or a stale step
	Precondition                 // 412: If-Match did not match
	TooLarge                     // 413: the body is over the limit
	Throttled                    // 429: too many requests; see RetryAfter
	Unavailable                  // 503: not ready, or overloaded; see RetryAfter
)

// Codes that more than one package uses; docs/errors.md describes all. A code is stable: clients
// branch on it, so it never changes its meaning.
const (
	CodeInternal           = "internal_error"
	CodeInvalidRequest     = "invalid_request"
	CodeInvalidFlow        = "invalid_flow"
	CodeFlowNotFound       = "flow_not_found"
	CodeUserNotFound       = "user_not_found"
	CodeUserTypeNotAllowed = "user_type_not_allowed"
	CodeAppNotFound        = "application_not_found"
	CodeAppExists          = "application_exists"
	CodeCredentialNotFound = "credential_not_found"
	CodeCredentialExists   = "credential_exists"
	CodeExecutionNotFound  = "execution_not_found"
	CodeInvalidAction      = "invalid_action"
	CodeStaleStep          = "stale_step"
	CodeAttributeTaken     = "attribute_taken"
	CodeInvalidIdentifier  = "invalid_identifier"
	CodeInvalidCredentials = "invalid_credentials" // for every failed password, so that it does not reveal who exists
	CodeUsed               = "code_used"           // a one-time code that was used before
	CodeTooManyAttempts    = "too_many_attempts"
	CodeInvalidCode        = "invalid_code"        // a wrong code of an app or for recovery, or the last of the allowed wrong mailed codes
	CodeMailThrottled      = "mail_throttled"      // another code has to wait
	CodeNoEmailAddress     = "no_email_address"    // the user has no address for a code
	CodeMailNotConfigured  = "mail_not_configured" // no mail server is configured
	CodeProviderNotFound   = "identity_provider_not_found"
	CodeIdentityNotFound   = "identity_not_found" // it was unlinked
	CodeIdentityTaken      = "identity_taken"     // another user signs in with it
	CodeStaleSession       = "stale_session_token"
	CodePasskeyFailed      = "passkey_verification_failed"
	CodePasskeyConfig      = "passkey_configuration"
	CodeOverloaded         = "overloaded"
	CodeStoreUnavailable   = "store_unavailable" // the database cannot be reached, or written
	CodeNotFound           = "not_found"
	CodeAuthRequest        = "auth_request_not_found"
	CodeConflict           = "conflict"  // it conflicts with another resource
	CodeInUse              = "in_use"    // other resources refer to it, so it cannot be deleted
	CodeReadOnly           = "read_only" // it belongs to the program
	CodePreconditionFailed = "precondition_failed"
	CodeForbidden          = "forbidden"
	CodeUsersDoNotFit      = "users_do_not_fit"   // a user type would no longer describe its users
	CodeUserDoesNotFit     = "user_does_not_fit"  // a flow makes users that their type does not describe
	CodeFlowDoesNotFit     = "flow_does_not_fit"  // a flow would make users that their type does not describe
	CodeLastAdministrator  = "last_administrator" // the last user with all permissions
	CodeLastCredential     = "last_credential"    // the user has no other way to sign in
	CodeFactorRequired     = "second_factor_required"
	CodeUnknownWays        = "unknown_ways"                     // the system is too large to find out how attackers can sign in
	CodeNewWay             = "new_way"                          // after the change an attacker would need less to sign in than before
	CodeCredentialLimited  = "credential_limited"               // it was added after a weaker sign-in than is needed: Provenance
	CodeFlowChanged        = "flow_changed"                     // while a run continued an earlier version, which promises less
	CodeExpressionFailed   = "expression_failed"                // of a flow, so the run cannot continue
	CodeCanceled           = "canceled"                         // the user ended the run
	CodeDenied             = "denied"                           // a deny node ended the run
	CodeNotAccepted        = "not_accepted"                     // a decision of the flow has a message
	CodeStaleProof         = "insufficient_user_authentication" // the user signed in too long ago for this: RFC 9470 §3
)

// Text is a message with the key of its translations.
type Text struct {
	Key          string `json:"key"`
	DefaultValue string `json:"defaultValue"`
}

// Problem is one problem of an input. Path is in the author's notation (nodes[2].next.found); Line
// and Column start at 1 and are 0 when the input had no lines, or the place is unknown.
type Problem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	// Rule is the id of the rule a flow definition broke ("takeover"), if any.
	Rule string `json:"rule,omitempty"`
	// Node is the id of the flow node at fault, if any.
	Node string `json:"node,omitempty"`
	// Warning marks a finding that does not reject the flow.
	Warning bool `json:"warning,omitempty"`
	// Waived marks a warning that the flow accepts with a reason, which is part of the message.
	Waived bool `json:"waived,omitempty"`
	// Trace is the shortest run that breaks the rule, if the finding is about runs.
	Trace Trace `json:"trace,omitempty"`
	// Follows refers to the finding that causes this one, if any: without that finding there would be
	// no run that breaks the rule of this one.
	Follows *FindingRef `json:"follows,omitempty"`
	// Cause is the target that is wrong, if another one fixes the finding and all that follow from it. The
	// position of the finding is that of the target.
	Cause *Cause `json:"cause,omitempty"`

	// Within is the number of the character within the text at Path that is at fault, from 1; 0 for the
	// whole. The position is then that of the character.
	Within int `json:"-"`

	onKey   bool   // the fault is the member's name, not its value
	missing bool   // a required member is not there
	meant   string // the path of the member that was probably meant by an unknown one
}

// Cause is a wrong target in a flow.
type Cause struct {
	Node string `json:"node"`
	// Outcome is "" if all outcomes of the node have one target.
	Outcome string `json:"outcome,omitempty"`
	Target  string `json:"target"`
	// Instead contains the targets that fix the findings.
	Instead []string `json:"instead"`
}

// FindingRef refers to a finding about the same flow by its rule, path and node.
type FindingRef struct {
	Rule string `json:"rule"`
	Path string `json:"path"`
	Node string `json:"node,omitempty"`
}

// IsOf reports whether the reference is to the problem.
func (r *FindingRef) IsOf(p Problem) bool {
	return r != nil && r.Rule == p.Rule && r.Path == p.Path && r.Node == p.Node
}

// OnName marks the problem as one of the last name of its path, not of the value: Document.Locate
// then uses the position of the name.
func (p Problem) OnName() Problem {
	p.onKey = true
	return p
}

// String writes the problem on one line: "12:9: nodes[2].next.found: message".
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d: ", p.Line, p.Column)
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Rule != "" {
		b.WriteString(" [" + p.Rule + "]")
	}
	if p.Follows != nil {
		b.WriteString(" (follows from " + p.Follows.Rule + " at " + cmp.Or(p.Follows.Node, p.Follows.Path) + ")")
	}
	return b.String()
}

// Error is the only error type that clients receive. Description states what was expected, what was
// received and how to fix it. Err is the cause for the log; it is never sent.
type Error struct {
	Class       Class         `json:"-"`
	Code        string        `json:"code"`
	Message     Text          `json:"message"`
	Description Text          `json:"description"`
	Errors      []Problem     `json:"errors,omitempty"`
	TraceID     string        `json:"traceId,omitempty"`
	RetryAfter  time.Duration `json:"-"`
	Err         error         `json:"-"`
}

// Errorf returns an Error with a formatted description. Its message is the text of the code for
// users, or the code in plain words. A %w operand becomes the cause, which is not sent.
func Errorf(class Class, code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{
		Class:       class,
		Code:        code,
		Message:     Text{Key: "error." + code, DefaultValue: message(code)},
		Description: Text{Key: "error." + code + ".description", DefaultValue: err.Error()},
		Err:         errors.Unwrap(err),
	}
}

// WithProblems adds problems and returns e.
func (e *Error) WithProblems(problems []Problem) *Error {
	e.Errors = problems
	return e
}

// Error writes the code, the description and every problem, but not again the only one if the description
// ends with it.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Code + ": " + e.Description.DefaultValue)
	if len(e.Errors) == 1 && strings.HasSuffix(e.Description.DefaultValue, e.Errors[0].String()) {
		return b.String()
	}
	for _, p := range e.Errors {
		b.WriteString("\n\t" + p.String())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// AsError returns the Error in err's chain. An error without one is internal.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{
		Class:       Internal,
		Code:        CodeInternal,
		Message:     Text{Key: "error." + CodeInternal, DefaultValue: "Internal error"},
		Description: Text{Key: "error." + CodeInternal + ".description", DefaultValue: "internal error; ask the operator to look up the trace id in the log of the server"},
		Err:         err,
	}
}

// HasClass reports whether an error is of a class.
func HasClass(err error, class Class) bool { return err != nil && AsError(err).Class == class }

// HasCode reports whether err is, or wraps, an Error with the code.
func HasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// messages are the texts for users who see only the message, by code.
var messages = sync.OnceValue(func() map[string]string {
	return map[string]string{
		CodeAttributeTaken:        "This is already taken. Choose another.",
		CodeInvalidIdentifier:     "This cannot be used as an account name. Choose another.",
		CodeUserDoesNotFit:        "Some values are invalid. Correct the marked fields.",
		CodeInvalidCredentials:    "Incorrect username or password.",
		CodePasskeyFailed:         "The passkey was not accepted. Try again, or use another one.",
		CodePasskeyConfig:         "Passkeys are not configured correctly. Contact the operator of this service.",
		CodeLastCredential:        "This is your only way to sign in. Add a passkey first.",
		CodeFederationDeclined:    "You did not sign in there. Try again, or sign in another way.",
		CodeFederationFailed:      "Signing in there did not work. Try again, or sign in another way.",
		CodeFederationUnavailable: "You cannot sign in there at the moment. Try again later, or sign in another way.",
		CodeIdentityTaken:         "This belongs to another account.",
		CodeCanceled:              "You canceled the sign-in.",
		CodeDenied:                "You cannot sign in here.",
		CodeStaleProof:            "Sign in again to change this.",
		CodeFactorRequired:        "Sign in with a passkey or a second factor to change this.",
		CodeFlowChanged:           "The sign-in was changed in the meantime. Start again.",
		CodeCredentialLimited:     "This was added after a weaker sign-in and is not enough here. Sign in another way.",
		CodeCredentialExists:      "This passkey is registered already. Sign in with it.",
		CodeExpressionFailed:      "You cannot continue here at the moment. Contact the operator of this service.",
		CodeUserNotFound:          "There is no such user.",
		CodeUserTypeNotAllowed:    "You cannot sign in here with this account.",
		CodeInvalidCode:           "Incorrect code.",
		CodeUsed:                  "This code was already used. Wait for the next one.",
		CodeMailThrottled:         "A code was sent a moment ago. Wait for it before you request another.",
		CodeNoEmailAddress:        "This account has no email address to send a code to.",
		CodeMailNotConfigured:     "Codes cannot be sent at the moment. Contact the operator of this service.",
		CodeInvalidLink:           "This link does not work. Use the one in the most recent mail, or contact an administrator.",
		CodeTooManyAttempts:       "Too many failed attempts. Start again.",
		CodeExecutionNotFound:     "This has expired or ended. Start again.",
		CodeStaleStep:             "This step has already been completed. Reload the page to continue.",
		CodeOverloaded:            "The service is busy. Try again in a moment.",
		CodeStoreUnavailable:      "The service is busy. Try again in a moment.",
	}
})

// message is the text of a code for users. Codes for programs are spelled out: flow_not_found is
// "Flow not found".
func message(code string) string {
	if text, ok := messages()[code]; ok || code == "" {
		return text
	}
	s := strings.ReplaceAll(code, "_", " ")
	return strings.ToUpper(s[:1]) + s[1:]
}
