package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// challenge returns the code challenge of an authorization request (RFC 7636
// §4.3); "" if it has none and the client may do without. The method plain, which
// is what a challenge without a method has, is refused: it guards nothing from
// whoever saw the request (RFC 9700 §2.1.1).
func (c *client) challenge(form url.Values) (string, error) {
	challenge, method := form.Get(challengeParameter), form.Get(challengeMethodParameter)
	switch {
	case challenge == "" && method != "":
		return "", errorf(codeInvalidRequest, "there is a code_challenge_method, and no code_challenge")
	case challenge == "" && c.needsPKCE(form):
		return "", errorf(codeInvalidRequest, "the client must send a code_challenge (PKCE, RFC 7636)")
	case challenge == "":
		return "", nil
	case method != "S256":
		return "", errorf(codeInvalidRequest, "expected the code_challenge_method S256: transform algorithm not supported")
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(challenge)
	if err != nil || len(sum) != sha256.Size || strings.ContainsAny(challenge, "\r\n") {
		return "", errorf(codeInvalidRequest, "expected as code_challenge a SHA-256 in base64url without padding: 43 characters")
	}
	return challenge, nil
}

// needsPKCE reports whether a request of the client needs a code challenge: that of
// whoever has no secret always does. A client that registered itself does without if
// it has a secret and tells a code that somebody else has put into its session by the
// nonce (OAuth 2.1 §7.5.1), as clients of OpenID Connect do that do not know PKCE.
func (c *client) needsPKCE(form url.Values) bool {
	if c.oauth.TokenEndpointAuthMethod == schemas.AuthMethodNone || c.oauth.PKCERequired != nil && *c.oauth.PKCERequired {
		return true
	}
	return c.Registration == schemas.RegisteredDynamically && (form.Get(nonceParameter) == "" || !asksForOpenID(form))
}

// checkVerifier makes sure that who redeems a code is who asked for it. A verifier
// where there was no challenge means that somebody took the challenge out of the
// request: the PKCE downgrade (RFC 9700 §4.8.2).
func checkVerifier(challenge, verifier string) error {
	switch {
	case challenge == "" && verifier == "":
		return nil
	case challenge == "":
		return errorf(codeInvalidGrant, "there is a code_verifier, and the authorization request had no code_challenge")
	case verifier == "":
		return errorf(codeInvalidGrant, "the code_verifier is missing")
	}
	sum := sha256.Sum256([]byte(verifier))
	made := base64.RawURLEncoding.EncodeToString(sum[:])
	if len(verifier) < 43 || len(verifier) > 128 || subtle.ConstantTimeCompare([]byte(made), []byte(challenge)) != 1 {
		return errorf(codeInvalidGrant, "the code_verifier does not match the code_challenge of the authorization request")
	}
	return nil
}
