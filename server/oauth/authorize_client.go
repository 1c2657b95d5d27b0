package oauth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// authorizeRequest is an authorization request with a known client and redirect URI.
type authorizeRequest struct {
	form     url.Values
	client   *client
	redirect string // the registered redirect URI
	mode     string // query or form_post
}

// readAuthorizeForm returns the parameters of a request, which name one client.
func readAuthorizeForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	form := r.URL.Query()
	if r.Method == http.MethodPost {
		if r.URL.RawQuery != "" {
			return nil, errorf(codeInvalidRequest, "send the parameters of a POST in its body")
		}
		var err error
		if form, err = readBody(w, r); err != nil {
			return nil, err
		}
	}
	if len(form["client_id"]) != 1 || len(form["redirect_uri"]) > 1 {
		return nil, errorf(codeInvalidRequest, "expected one client_id and one redirect_uri").refusing("client_id", "")
	}
	return form, nil
}

// resolveClient determines the client and the redirect URI of a request. Until both are certain,
// nothing is redirected: an answer, even an error, to an unregistered URI is an open redirector
// (RFC 9700 §4.11.2). With an error the request has the client if that is known.
func (p *Provider) resolveClient(r *http.Request, form url.Values) (*authorizeRequest, error) {
	c, err := p.findClient(r.Context(), form.Get("client_id"))
	if err != nil {
		return nil, err
	}
	logClient(r.Context(), c)
	a := &authorizeRequest{form: form, client: c, mode: "query"}
	redirects := form["redirect_uri"]
	switch registered := c.oauth.RedirectURIs; {
	case len(redirects) == 1:
		a.redirect = redirects[0]
	case len(registered) == 1 && !asksForOpenID(form): // required by OpenID Connect Core §3.1.2.1
		a.redirect = registered[0] // RFC 6749 §3.1.2.3
	}
	if a.redirect == "" {
		return a, errorf(codeInvalidRequest, "the redirect_uri is missing: it may be omitted only if the client has registered exactly one and does not request the scope openid").refusing("redirect_uri", "")
	}
	if !c.redirects(a.redirect) {
		return a, errorf(codeInvalidRequest, "the redirect_uri is not registered for this client: it must be identical to one of its redirectUris%s", c.nearMiss(a.redirect)).refusing("redirect_uri", a.redirect)
	}
	if form.Get("response_mode") == "form_post" {
		a.mode = "form_post"
	}
	return a, nil
}

// asksForOpenID reports whether a request is one of OpenID Connect.
func asksForOpenID(form url.Values) bool {
	return slices.Contains(strings.Fields(form.Get("scope")), openidScope)
}
