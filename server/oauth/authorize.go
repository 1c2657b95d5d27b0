package oauth

import (
	"net/http"
	"net/url"
)

// authorizeParameters are the parameters of RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core
// §3.1.2.1, and RFC 8707 §2.
func authorizeParameters() []string {
	return []string{
		"client_id", "redirect_uri", "response_type", "response_mode", "scope", "state",
		"nonce", "claims", "code_challenge", "code_challenge_method", "prompt", "max_age", "acr_values",
		"login_hint", "id_token_hint", "ui_locales", "resource", "request", "request_uri",
	}
}

// Authorize handles GET and POST /oauth2/authorize: RFC 6749 §3.1. A request passes through the
// stages in this order, each in the file of its name:
//
//	resolve client     authorize_client.go
//	validate request   authorize_validate.go
//	authenticate       authorize_authenticate.go: starts a run of the application's flow. Most runs
//	                   continue on a hosted page, whose end leads to the callback (callback.go).
//	issue code         authorize_code.go
//	redirect with code or error, or render the error page: authorize_response.go
//
// The first attempt assumes that the client has not changed since a request before this one, which
// saves a query: see Store.Assume. An attempt answers nothing itself. The metadata document of the client is
// read before: other requests share the result.
func (p *Provider) Authorize(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		return errHead
	}
	form, err := readAuthorizeForm(w, r)
	if err == nil {
		err = p.refreshClient(r.Context(), form.Get("client_id"), true)
	}
	if err != nil {
		return p.renderErrorPage(w, r, nil, err)
	}
	cookies := w.Header()["Set-Cookie"]
	assuming := r.WithContext(p.Store.Assume(r.Context()))
	answer := p.authorize(w, assuming, form)
	unchanged, err := p.Store.Confirm(assuming.Context())
	if err != nil {
		return err
	}
	if !unchanged {
		w.Header()["Set-Cookie"] = cookies
		answer = p.authorize(w, r, form)
	}
	return answer()
}

// authorize processes a request, and returns the function that answers it.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request, form url.Values) (answer func() error) {
	a, err := p.resolveClient(r, form)
	if err != nil {
		return func() error { return p.renderErrorPage(w, r, a, err) }
	}
	// Without the cookies there is no session, and a new cookie would replace the one of other
	// tabs.
	if to := p.cookieRedirect(r, AuthorizePath, form); to != "" {
		return func() error { return redirect(w, r, to) }
	}
	page := ""
	req, err := p.validateAuthRequest(r.Context(), a)
	if err == nil {
		page, err = p.authenticate(w, r, a, req)
	}
	switch {
	case err != nil:
		return func() error { return p.redirectWithError(w, r, a, err) }
	case page != "":
		return func() error { return redirect(w, r, page) }
	}
	return func() error { return p.redirectWithError(w, r, a, p.issueCode(w, r, req.ID, req.BrowserHash)) }
}

func redirect(w http.ResponseWriter, r *http.Request, to string) error {
	http.Redirect(w, r, to, seeOther(r))
	return nil
}

// errHead: HEAD must not start a sign-in.
var errHead = &Error{Status: http.StatusMethodNotAllowed, Code: codeInvalidRequest, Description: "expected GET or POST"}
