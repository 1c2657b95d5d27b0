package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// grantTypes lists the grant types of the token endpoint.
func grantTypes() []string {
	return []string{schemas.GrantAuthorizationCode, schemas.GrantRefreshToken, schemas.GrantClientCredentials}
}

// Token handles POST /oauth2/token: RFC 6749 §3.2.
func (p *Provider) Token(w http.ResponseWriter, r *http.Request) error {
	err := p.answerToken(w, r)
	if p.Observer != nil {
		p.Observer.CountTokenRequest(grantLabel(r.PostForm.Get("grant_type")), tokenResult(err))
	}
	return err
}

// grantLabel returns the grant type if it is supported: a client can send any text.
func grantLabel(name string) string {
	if slices.Contains(grantTypes(), name) {
		return name
	}
	return "other"
}

// tokenResult returns the result of a token request for an Observer.
func tokenResult(err error) string {
	if err == nil {
		return "issued"
	}
	if reported, ok := errors.AsType[*Error](err); ok {
		return reported.Code
	}
	return codeServerError
}

func (p *Provider) answerToken(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache") // RFC 6749 §5.1, for caches older than Cache-Control
	if err := readForm(w, r, tokenParameters()); err != nil {
		return p.recordRefusal(r.Context(), "token.refused", nil, err)
	}
	if err := checkGrantType(r.PostForm.Get("grant_type")); err != nil {
		return p.recordRefusal(r.Context(), "token.refused", nil, err)
	}
	c, err := p.authenticateClient(r.WithContext(schemas.WithNamed(r.Context(), p.namedIn(r.PostForm))))
	if err != nil {
		return err
	}
	return p.recordRefusal(r.Context(), "token.refused", c.Application, p.serveGrant(w, r, c))
}

// namedIn returns the record of the grant that a token request names.
func (p *Provider) namedIn(form url.Values) (n schemas.Named) {
	switch form.Get("grant_type") {
	case schemas.GrantAuthorizationCode:
		if code := form.Get("code"); code != "" {
			n.CodeHash = schemas.HashSecret(code)
		}
	case schemas.GrantRefreshToken:
		n.Family, _, _ = p.openRefresh(form.Get("refresh_token"))
	}
	return n
}

// checkGrantType rejects grant types that the library knows and Postern does not support.
func checkGrantType(name string) error {
	types := grantTypes()
	last := len(types) - 1
	expected := strings.Join(types[:last], ", ") + " or " + types[last]
	switch {
	case name == "":
		return errorf(codeInvalidRequest, "the parameter grant_type is missing: expected %s", expected).refusing("grant_type", "")
	case !slices.Contains(types, name):
		return errorf(codeUnsupportedGrantType, "expected the grant_type %s, got %.100s", expected, shownValue(name)).refusing("grant_type", name)
	}
	return nil
}

// mayGrant reports whether the client is registered for a grant type.
func (c *client) mayGrant(name string) bool { return slices.Contains(c.oauth.GrantTypes, name) }
