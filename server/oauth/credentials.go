package oauth

import (
	"net/http"
	"net/url"
	"strings"
)

// checkCredentials checks that a client authenticates in exactly one (RFC 6749 §2.3), supported
// way. op and VerifyClient read the credentials.
func checkCredentials(r *http.Request) error {
	form := r.PostForm
	basic, err := basicClientID(r)
	if err != nil {
		return err
	}
	ways := 0
	for _, used := range []bool{basic != "", form.Has(clientSecretParameter), form.Has(clientAssertionParameter)} {
		if used {
			ways++
		}
	}
	named := form.Get(clientIDParameter)
	switch {
	case ways > 1:
		return errorf(codeInvalidRequest, "the client authenticates in more than one way: send either the header Authorization, or client_secret, or client_assertion in the body")
	case basic != "" && named != "" && named != basic:
		return errorf(codeInvalidRequest, "the client_id in the body is not that of the header Authorization")
	case form.Has(clientAssertionParameter) != form.Has(assertionTypeParameter):
		return errClient(false, "client_assertion and client_assertion_type go together: one of them is missing")
	case form.Has(assertionTypeParameter) && form.Get(assertionTypeParameter) != assertionTypeJWT:
		return errClient(false, "expected the client_assertion_type %s", assertionTypeJWT)
	case basic == "" && named == "" && !form.Has(clientAssertionParameter):
		return errClient(false, "the request does not say which client sends it: use HTTP Basic authentication, or send client_id and client_secret in the body")
	}
	return nil
}

// basicClientID returns the client id of HTTP Basic authentication, "" without it. Id and secret
// are form-encoded (RFC 6749 §2.3.1).
func basicClientID(r *http.Request) (string, error) {
	id, _, err := basicCredentials(r)
	return id, err
}

// basicCredentials returns the client id and secret.
func basicCredentials(r *http.Request) (id, secret string, err error) {
	fields := r.Header.Values("Authorization")
	if len(fields) == 0 {
		return "", "", nil
	}
	user, password, ok := r.BasicAuth()
	if len(fields) > 1 || !ok {
		return "", "", errClient(true, "expected one header Authorization: Basic <client_id:client_secret in base64>")
	}
	id, badID := url.QueryUnescape(user)
	secret, badSecret := url.QueryUnescape(password)
	switch {
	case badID != nil || badSecret != nil:
		return "", "", errClient(true, "a percent sign in the credentials begins no escape: form-encode client_id and client_secret before joining them (RFC 6749 section 2.3.1)")
	case id == "" || secret == "":
		return "", "", errClient(true, "the header Authorization lacks the client_id or the client_secret")
	}
	return id, secret, nil
}

// triedBasic reports whether the request has credentials in its header. checkCredentials rejects
// other schemes.
func triedBasic(h http.Header) bool {
	scheme, _, _ := strings.Cut(h.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Basic")
}
