package oauth

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/postern-id/postern/schemas"
)

// What is kept of a request, which anybody may send, in bytes: of each parameter, and
// in all. A client that packs what it knows into a state of 2 KB, asks for thirty
// scopes of three resources and names the person comes to less than half of it.
const (
	maxParameterLength = 4 << 10
	maxKept            = 8 << 10
)

// isStorable reports whether a parameter can be kept and given back.
func isStorable(text string) bool {
	return len(text) <= maxParameterLength && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// checkParameters refuses values that cannot be kept. The id_token_hint is not.
func checkParameters(form url.Values) error {
	for _, name := range authorizeParameters() {
		for _, value := range form[name] {
			switch {
			case name == idHintParameter || isStorable(value):
			case len(value) > maxParameterLength:
				return errorf(codeInvalidRequest, "the parameter %s has %d bytes, expected at most %d: keep the rest at the client", name, len(value), maxParameterLength)
			default:
				return errorf(codeInvalidRequest, "the parameter %s is not of UTF-8 text", name)
			}
		}
	}
	return nil
}

// checkSize refuses a request of which too much would be kept.
func checkSize(req *schemas.AuthRequest) error {
	kept := 0
	for _, list := range [][]string{{req.ClientID, req.RedirectURI, req.State, req.Nonce, req.CodeChallenge, req.LoginHint},
		req.Scopes, req.Resources, req.Login.Prompt, req.Login.ACRValues} {
		for _, text := range list {
			kept += len(text)
		}
	}
	if kept > maxKept {
		return errorf(codeInvalidRequest, "the parameters have %d bytes together, expected at most %d: shorten %s", kept, maxKept, stateParameter)
	}
	return nil
}
