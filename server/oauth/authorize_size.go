package oauth

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/postern-id/postern/schemas"
)

// The limits of stored parameters of a request, which anyone can send, in bytes: of each, and in
// total. A client with a state of 2 KB, thirty scopes for three resources and a login hint needs
// less than half.
const (
	maxParameterLength = 4 << 10
	maxKept            = 8 << 10
)

// isStorable reports whether a parameter can be stored and returned.
func isStorable(text string) bool {
	return len(text) <= maxParameterLength && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// checkParameters rejects values that cannot be stored. The id_token_hint is not stored.
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

// checkSize rejects a request whose stored part is too large.
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
