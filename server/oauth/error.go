package oauth

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/postern-id/postern/schemas"
)

// Error is an error of RFC 6749 §5.2.
type Error struct {
	// Status is the HTTP status.
	Status int `json:"-"`
	// Code is the "error" member.
	Code string `json:"error"`
	// Description is the "error_description" member, for the developer of the client.
	Description string `json:"error_description"`
	// Authenticate is the WWW-Authenticate field of the reply, "" for none.
	Authenticate string `json:"-"`

	reason string // for the audit log
	// page is the code with which the error page explains the cause, if that is another one.
	page string
	// parameter is the name of what was refused, and refused its value as logs may contain it; "" for none.
	parameter, refused string
}

// Error returns the message for the client.
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

	// pageLost is the code of the error page for a sign-in that is over, or that this browser did not start.
	pageLost = "lost"
)

// refusing names the parameter that was refused, and its value, so that an administrator sees what to correct.
func (e *Error) refusing(parameter, value string) *Error {
	e.parameter, e.refused = parameter, shownValue(value)
	return e
}

// maxShownValue is the length of a value that a client sent, as logs contain it, in bytes.
const maxShownValue = 300

// shortestSecret is the length of a text of random characters that may be a secret, such as a code, in a
// parameter that is not meant for it.
const shortestSecret = 32

// shownValue returns a value that a client sent as logs may contain it. What may be secret is left out: a
// query, a fragment, user information and tokens.
func shownValue(value string) string {
	head, query, _ := strings.Cut(value, "?")
	head, fragment, _ := strings.Cut(head, "#")
	u, err := url.Parse(head)
	switch {
	case strings.HasPrefix(head, "eyJ") && strings.Count(head, ".") >= 2:
		return "a token that cannot be shown"
	case len(head) >= shortestSecret && uuid.Validate(head) != nil && strings.Trim(head, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == "":
		return "a value that may be a secret"
	case strings.Contains(head, "@") && (err != nil || u.User != nil):
		return "an address that cannot be shown"
	case query != "" || fragment != "":
		head += "?..."
	}
	return escaped(head, maxShownValue)
}

// escaped returns a text in printable ASCII, of at most limit bytes.
func escaped(text string, limit int) string {
	text = strconv.QuoteToASCII(text[:min(len(text), limit)])
	text = text[1 : len(text)-1]
	return text[:min(len(text), limit)]
}

// errLost returns an error about a sign-in that cannot go on in this browser. The application can start another.
func errLost(status int, code, format string, args ...any) *Error {
	e := errorf(code, format, args...)
	e.Status, e.page = status, pageLost
	return e
}

// errorf returns an error with status 400.
func errorf(code, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Description: errorDescription(fmt.Sprintf(format, args...))}
}

// errorDescription converts a text to an error_description of limited length.
func errorDescription(text string) string {
	const longest = 300
	text = Printable(text)
	return text[:min(len(text), longest)]
}

// Printable returns a text in the characters that error descriptions and header fields permit:
// printable ASCII without quotes and backslashes (RFC 6749 §5.2, RFC 6750 §3).
func Printable(text string) string {
	kept := make([]byte, 0, len(text))
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			kept = append(kept, '\'')
		case c >= ' ' && c < 0x7f:
			kept = append(kept, c)
		}
	}
	return string(kept)
}

// errMethod is the error of a client that does not use its registered authentication method.
func errMethod(basic bool, used, registered string) *Error {
	return errClient(basic, "the client authenticated by %s, but its tokenEndpointAuthMethod (token_endpoint_auth_method) is %s: "+
		"authenticate that way, or leave the field out to allow client_secret_basic and client_secret_post", used, registered)
}

// errClient is the error of failed client authentication. It requests Basic authentication (RFC
// 7617 §2.1) only if the client tried that: browsers open a dialog for it.
func errClient(basic bool, format string, args ...any) *Error {
	e := errorf(codeInvalidClient, format, args...)
	e.Status = http.StatusUnauthorized
	if basic {
		e.Authenticate = `Basic realm="postern", charset="UTF-8"`
	}
	return e
}

// asInvalidClient returns an error of this package as one of failed client authentication, and any
// other unchanged.
func asInvalidClient(err error) error {
	if reported, ok := errors.AsType[*Error](err); ok {
		e := errClient(false, "%s", reported.Description)
		e.parameter, e.refused = reported.parameter, reported.refused
		return e
	}
	return err
}

// errToken is the error of an unusable bearer token: RFC 6750 §3. A request without one learns of
// no error (§3.1).
func errToken(status int, code, format string, args ...any) *Error {
	e := errorf(code, format, args...)
	e.Status, e.Authenticate = status, `Bearer realm="postern"`
	if code == codeInvalidRequest {
		return e
	}
	e.Authenticate += `, error="` + code + `", error_description="` + e.Description + `"`
	if status == http.StatusForbidden {
		e.Authenticate += `, scope="openid"`
	}
	return e
}

// Explain converts an error from outside the protocol, by its class and description.
func Explain(status int, description string) *Error {
	code := cmp.Or(map[int]string{
		http.StatusUnauthorized:        codeInvalidToken,
		http.StatusForbidden:           codeInsufficientScope,
		http.StatusTooManyRequests:     codeUnavailable,
		http.StatusServiceUnavailable:  codeUnavailable,
		http.StatusInternalServerError: codeServerError,
	}[status], codeInvalidRequest)
	return &Error{Status: status, Code: code, Description: errorDescription(description)}
}
