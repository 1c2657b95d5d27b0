package oauth

import (
	"fmt"
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// Error is an error as RFC 6749 §5.2 tells it to a client.
type Error struct {
	// Status is the HTTP status.
	Status int `json:"-"`
	// Code is the "error" member.
	Code string `json:"error"`
	// Description is the "error_description" member: for the developer of the
	// client, not for people who use it.
	Description string `json:"error_description"`
	// Challenge has the reply ask for Basic authentication. It does so only if the
	// client tried that: browsers open a dialog of their own for it.
	Challenge bool `json:"-"`
	// Bearer has it ask for a bearer token instead (RFC 6750 §3).
	Bearer bool `json:"-"`
}

// Error says what the client is told.
func (e *Error) Error() string { return e.Code + ": " + e.Description }

// Error codes: RFC 6749 §4.1.2.1 and §5.2, OpenID Connect Core §3.1.2.6, RFC 6750
// §3.1, and invalid_target of RFC 8707 §2.
const (
	codeInvalidRequest       = "invalid_request"
	codeInvalidClient        = "invalid_client"
	codeInvalidGrant         = "invalid_grant"
	codeInvalidToken         = "invalid_token"
	codeUnauthorizedClient   = "unauthorized_client"
	codeUnsupportedResponse  = "unsupported_response_type"
	codeNoRequest            = "request_not_supported"
	codeNoRequestURI         = "request_uri_not_supported"
	codeAccessDenied         = "access_denied"
	codeLoginRequired        = "login_required"
	codeConsentRequired      = schemas.RefusedConsentRequired
	codeInsufficientScope    = "insufficient_scope"
	codeInvalidScope         = "invalid_scope"
	codeUnsupportedGrantType = "unsupported_grant_type"
	codeInvalidTarget        = "invalid_target"
	codeUnsupportedTokenType = "unsupported_token_type"  // RFC 7009 §2.2.1
	codeUnavailable          = "temporarily_unavailable" // RFC 6749 §4.1.2.1
	codeServerError          = "server_error"
)

// errorf returns an error with status 400.
func errorf(code, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Description: errorDescription(fmt.Sprintf(format, args...))}
}

// errorDescription makes a text fit for an error_description, which is of printable
// ASCII without quotes and backslashes (RFC 6749 §5.2), and of a length that a
// client cannot choose.
func errorDescription(text string) string {
	const longest = 300
	var kept []byte
	for _, c := range []byte(text) {
		switch {
		case len(kept) == longest:
			return string(kept)
		case c == '"' || c == '\\':
			kept = append(kept, '\'')
		case c >= ' ' && c < 0x7f:
			kept = append(kept, c)
		}
	}
	return string(kept)
}

// errMethod is the error of a client that authenticates in another way than it is
// registered for.
func errMethod(basic bool, used, registered string) *Error {
	return errClient(basic, "the client authenticated by %s, but its tokenEndpointAuthMethod (token_endpoint_auth_method) is %s: "+
		"authenticate that way, or leave the field out to allow client_secret_basic and client_secret_post", used, registered)
}

// errClient is the error of a client that is not, or not rightly, authenticated.
func errClient(basic bool, format string, args ...any) *Error {
	e := errorf(codeInvalidClient, format, args...)
	e.Status, e.Challenge = http.StatusUnauthorized, basic
	return e
}

// errToken is the error of a bearer token that is not what is needed.
func errToken(status int, code, format string, args ...any) *Error {
	e := errorf(code, format, args...)
	e.Status, e.Bearer = status, true
	return e
}

// Explain returns the error of a request that came to grief outside of the
// protocol: by its status and the description of what is wrong.
func Explain(status int, description string) *Error {
	code := codeInvalidRequest
	switch {
	case status == http.StatusUnauthorized:
		code = codeInvalidToken
	case status == http.StatusForbidden:
		code = codeInsufficientScope
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		code = codeUnavailable
	case status >= http.StatusInternalServerError:
		code = codeServerError
	}
	return &Error{Status: status, Code: code, Description: errorDescription(description)}
}
