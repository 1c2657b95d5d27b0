package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// challenge returns the code challenge of an authorization request (RFC 7636 §4.3); "" if it has
// none and the client needs none. The method plain, which is the default, is rejected: it does not
// protect from an attacker who saw the request (RFC 9700 §2.1.1).
func (c *client) challenge(form url.Values) (string, error) {
	challenge, method := form.Get(challengeParameter), form.Get(challengeMethodParameter)
	switch {
	case challenge == "" && method != "":
		return "", errorf(codeInvalidRequest, "there is a code_challenge_method, and no code_challenge")
	case challenge == "":
		return "", c.checkUnchallenged(form)
	case method != "S256":
		return "", errorf(codeInvalidRequest, "expected the code_challenge_method S256: transform algorithm not supported")
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(challenge)
	if err != nil || len(sum) != sha256.Size || strings.ContainsAny(challenge, "\r\n") {
		return "", errorf(codeInvalidRequest, "expected as code_challenge a SHA-256 in base64url without padding: 43 characters")
	}
	return challenge, nil
}

// checkUnchallenged checks whether the client may omit the code challenge. Public clients and
// clients with pkceRequired must send one. A confidential client that registered itself can send a
// nonce instead, with which it detects an injected code (OAuth 2.1 §7.5.1). For other confidential
// clients the code stays bound to the client's credentials and the redirect URI (checkRedirect).
func (c *client) checkUnchallenged(form url.Values) error {
	const missing = "code_challenge is missing: send one with code_challenge_method S256 (PKCE, RFC 7636)"
	switch {
	case c.oauth.TokenEndpointAuthMethod == schemas.AuthMethodNone:
		return errorf(codeInvalidRequest, missing+"; a public client always needs it, and pkceRequired cannot be false")
	case c.oauth.PKCERequired != nil && *c.oauth.PKCERequired:
		return errorf(codeInvalidRequest, missing+", or have an administrator set pkceRequired of the application to false")
	case c.Registration != "" && (form.Get(nonceParameter) == "" || !asksForOpenID(form)):
		return errorf(codeInvalidRequest, missing+", or a nonce with the scope openid; a client that registered itself needs one of them, whatever pkceRequired is")
	}
	return nil
}

// checkVerifier checks that the caller sent the authorization request. A verifier without a
// challenge means that an attacker removed the challenge: the PKCE downgrade (RFC 9700 §4.8.2).
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
