package oauth

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Parameters of the authorization endpoint: RFC 6749 §4.1.1, RFC 7636 §4.3,
// OpenID Connect Core §3.1.2.1, RFC 8707 §2.
const (
	responseTypeParameter    = "response_type"
	responseModeParameter    = "response_mode"
	stateParameter           = "state"
	nonceParameter           = "nonce"
	challengeParameter       = "code_challenge"
	challengeMethodParameter = "code_challenge_method"
	promptParameter          = "prompt"
	maxAgeParameter          = "max_age"
	acrParameter             = "acr_values"
	hintParameter            = "login_hint"
	idHintParameter          = "id_token_hint"
	localesParameter         = "ui_locales"
	requestParameter         = "request"
	requestURIParameter      = "request_uri"
)

func authorizeParameters() []string {
	return []string{
		clientIDParameter, redirectParameter, responseTypeParameter, responseModeParameter, scopeParameter, stateParameter,
		nonceParameter, challengeParameter, challengeMethodParameter, promptParameter, maxAgeParameter, acrParameter,
		hintParameter, idHintParameter, localesParameter, resourceParameter, requestParameter, requestURIParameter,
	}
}

// authorizeRequest is an authorization request with a known client and redirect URI.
type authorizeRequest struct {
	form     url.Values
	client   *client
	redirect string // the registered redirect URI
	mode     string // query or form_post
}

// Authorize handles GET and POST /oauth2/authorize: RFC 6749 §3.1. It starts a run of the
// application's flow and redirects to its page.
func (p *Provider) Authorize(begin Begin) func(w http.ResponseWriter, r *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method == http.MethodHead {
			return errHead
		}
		a, err := p.resolveClient(w, r)
		if err != nil {
			return p.renderErrorPage(w, r, err)
		}
		// Without the cookies there is no session, and a new cookie would replace the one of other
		// tabs.
		if p.fetchCookies(w, r, AuthorizePath, a.form) {
			return nil
		}
		return p.redirectWithError(w, r, a, p.authorize(w, r, a, begin))
	}
}

// errHead: HEAD must not start a sign-in.
var errHead = &Error{Status: http.StatusMethodNotAllowed, Code: codeInvalidRequest, Description: "expected GET or POST"}

// resolveClient determines the client and the redirect URI of a request. Until both are certain,
// nothing is redirected: an answer, even an error, to an unregistered URI is an open redirector
// (RFC 9700 §4.11.2).
func (p *Provider) resolveClient(w http.ResponseWriter, r *http.Request) (*authorizeRequest, error) {
	form := r.URL.Query()
	if r.Method == http.MethodPost {
		if r.URL.RawQuery != "" {
			return nil, errorf(codeInvalidRequest, "the parameters of a POST belong into its body")
		}
		var err error
		if form, err = readBody(w, r); err != nil {
			return nil, err
		}
	}
	named, redirects := form[clientIDParameter], form[redirectParameter]
	if len(named) != 1 || len(redirects) > 1 {
		return nil, errorf(codeInvalidRequest, "expected one client_id and one redirect_uri")
	}
	if err := p.refreshClient(r.Context(), named[0]); err != nil {
		return nil, err
	}
	c, err := p.clientNamed(r.Context(), named[0])
	if err != nil {
		return nil, err
	}
	a := &authorizeRequest{form: form, client: c, mode: "query"}
	switch registered := c.oauth.RedirectURIs; {
	case len(redirects) == 1:
		a.redirect = redirects[0]
	case len(registered) == 1 && !asksForOpenID(form): // required by OpenID Connect Core §3.1.2.1
		a.redirect = registered[0] // RFC 6749 §3.1.2.3
	}
	if a.redirect == "" {
		return nil, errorf(codeInvalidRequest, "the redirect_uri is missing: it may be left out only where the client has registered one, and the scope openid is not asked for")
	}
	if !c.redirects(a.redirect) {
		return nil, errorf(codeInvalidRequest, "the redirect_uri is not registered for this client: expected one of its redirectUris, letter by letter")
	}
	if form.Get(responseModeParameter) == "form_post" {
		a.mode = "form_post"
	}
	return a, nil
}

// asksForOpenID reports whether a request is one of OpenID Connect.
func asksForOpenID(form url.Values) bool {
	return slices.Contains(strings.Fields(form.Get(scopeParameter)), openidScope)
}

// clientNamed returns the client with the id.
func (p *Provider) clientNamed(ctx context.Context, id string) (*client, error) {
	if err := p.Documents.check(id); err != nil {
		return nil, err
	}
	app, err := p.Clients.Client(ctx, id)
	if err == nil && app.OAuth() != nil {
		return &client{app, app.OAuth()}, nil
	}
	if err == nil || schemas.AsError(err).Class == schemas.NotFound {
		return nil, errorf(codeInvalidClient, "there is no client with this client_id")
	}
	return nil, err
}

// authorize continues Authorize for a known client.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request, a *authorizeRequest, begin Begin) error {
	req, err := p.validateRequest(r.Context(), a)
	if err != nil {
		return err
	}
	session, err := p.Session(r)
	if err != nil {
		return err
	}
	if session != nil && req.Login.Subject != "" && req.Login.Subject != session.UserID {
		session = nil // another user than the client expects
	}
	silent := hasPrompt(req, "none")
	if silent && (session == nil || !req.Login.Accept(session, p.now())) {
		return errorf(codeLoginRequired, "there is no session that satisfies the request")
	}
	if err := p.extendExpiry(r.Context(), a.client.Application, requestTTLAsked); err != nil {
		return err
	}
	req.BrowserHash = p.ensureBrowser(w, r)
	if err := p.Authorization.Requests.CreateAuthRequest(r.Context(), *req); err != nil {
		return err
	}
	step, err := begin(r, req, session)
	if err != nil {
		return explainBegin(err)
	}
	switch {
	// A run that waits for another provider has a redirectURL too; the pages follow it, because the
	// answer returns to them.
	case step.FlowStatus == schemas.Complete, step.FlowStatus == schemas.Failed && step.Data.RedirectURL != "":
		return p.answerRequest(w, r, req.ID)
	case step.FlowStatus == schemas.Failed:
		return errorf(codeAccessDenied, "the sign-in failed: %s", failureOf(step))
	case silent:
		return interactionError(step)
	}
	http.Redirect(w, r, p.hostedPageURL(req, step.ExecutionID, a.form.Get(localesParameter)), seeOther(r))
	return nil
}

// explainBegin reports to the client a fault that an administrator must fix.
func explainBegin(err error) error {
	if e := schemas.AsError(err); e.Class == schemas.Invalid || e.Class == schemas.NotFound {
		return errorf(codeServerError, "the sign-in cannot begin: %s", e.Description.DefaultValue)
	}
	return err
}

func failureOf(step *schemas.Step) string {
	if step.Error == nil {
		return "the flow ended in an error"
	}
	return step.Error.Description.DefaultValue
}

// hostedPageURL returns the page on which the user continues the run. The address states once that
// the run has just started: the pages remove that, and redirect to another provider automatically
// only then.
func (p *Provider) hostedPageURL(req *schemas.AuthRequest, executionID, locales string) string {
	q := url.Values{"applicationId": {req.ApplicationID}, "authId": {req.ID}, "executionId": {executionID}, "begun": {"1"}}
	if locales != "" {
		q.Set(localesParameter, locales)
	}
	if req.LoginHint != "" {
		q.Set(hintParameter, req.LoginHint)
	}
	return p.Authorization.Gate + "/signin?" + q.Encode()
}

// validateRequest validates the parameters and builds the authorization request.
func (p *Provider) validateRequest(ctx context.Context, a *authorizeRequest) (*schemas.AuthRequest, error) {
	form, err := knownParameters(a.form, authorizeParameters())
	if err != nil {
		return nil, err
	}
	if err := checkParameters(form); err != nil {
		return nil, err
	}
	if err := a.checkKind(form); err != nil {
		return nil, err
	}
	challenge, err := a.client.challenge(form)
	if err != nil {
		return nil, err
	}
	now := p.now()
	req := &schemas.AuthRequest{
		ID: schemas.NewID(), ApplicationID: a.client.ID, ClientID: a.client.GetID(), RedirectURI: a.redirect, ResponseMode: a.mode,
		State: form.Get(stateParameter), Nonce: form.Get(nonceParameter), CodeChallenge: challenge, LoginHint: form.Get(hintParameter),
		Resources: form[resourceParameter], CreatedAt: now, ExpiresAt: now.Add(RequestTTL),
	}
	if req.Scopes, err = a.client.requestable(form.Get(scopeParameter)); err != nil {
		return nil, err
	}
	if len(req.Resources) > 0 {
		if req.Resources, err = p.audience(ctx, nil, req.Resources); err != nil {
			return nil, err
		}
	}
	if req.Login, err = p.loginRules(ctx, a.client, form); err != nil {
		return nil, err
	}
	if !a.client.IsTrusted() && slices.ContainsFunc(req.Scopes, schemas.IsManagementScope) {
		// This is added to the client's request: a session of several hours must not be enough to
		// give an untrusted client the permissions of its user.
		req.Login.Prompt = append(req.Login.Prompt, "login")
	}
	return req, checkSize(req)
}

// checkKind checks that the request has a supported kind, and that the client may use it.
func (a *authorizeRequest) checkKind(form url.Values) error {
	mode := form.Get(responseModeParameter)
	switch {
	case form.Has(requestParameter):
		return errorf(codeNoRequest, "request objects are not supported: send the parameters themselves")
	case form.Has(requestURIParameter):
		return errorf(codeNoRequestURI, "request_uri is not supported: send the parameters themselves")
	case !a.client.mayGrant(schemas.GrantAuthorizationCode):
		return errorf(codeUnauthorizedClient, "the client is not registered for the grant type authorization_code")
	case !form.Has(responseTypeParameter):
		return errorf(codeInvalidRequest, "the parameter response_type is missing: expected code")
	case form.Get(responseTypeParameter) != "code":
		return errorf(codeUnsupportedResponse, "expected the response_type code, got %.100s", form.Get(responseTypeParameter))
	case cmp.Or(mode, "query") != a.mode:
		return errorf(codeInvalidRequest, "expected the response_mode query or form_post, got %.100s", mode)
	}
	return nil
}
