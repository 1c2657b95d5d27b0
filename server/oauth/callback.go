package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// Callback handles GET /oauth2/auth/callback?authId=…, to which the browser goes at the end of
// the run.
func (p *Provider) Callback(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		return errHead
	}
	ids := r.URL.Query()["authId"]
	if len(ids) != 1 {
		return p.renderErrorPage(w, r, errorf(codeInvalidRequest, "expected one authId"))
	}
	return p.renderErrorPage(w, r, p.answerRequest(w, r, ids[0]))
}

// answerRequest answers a granted request.
func (p *Provider) answerRequest(w http.ResponseWriter, r *http.Request, id string) error {
	req, err := p.requestOfBrowser(w, r, id)
	if err != nil {
		return err
	}
	if req.Grant == nil && req.Refusal == nil {
		return errorf(codeInvalidRequest, "the sign-in for this request is not finished: go back and finish it")
	}
	more, err := p.authorizationResponse(w, r, req)
	if err != nil {
		return err
	}
	return p.redirectToClient(w, r, req, more)
}

// callbackBody is the body of POST /oauth2/auth/callback.
type callbackBody struct {
	AuthID    string `json:"authId"`
	Assertion string `json:"assertion"`
}

// CallbackBy handles POST /oauth2/auth/callback: an application with its own sign-in page answers
// with the assertion of the run that the request started. The reply is the address for the browser.
func (p *Provider) CallbackBy(w http.ResponseWriter, r *http.Request) error {
	body, err := readCallback(w, r)
	if err != nil {
		return err
	}
	req, err := p.requestOfBrowser(w, r, body.AuthID)
	if err != nil {
		return err
	}
	if req.Refusal == nil {
		if err := p.grantBy(r.Context(), req, body.Assertion); err != nil {
			return err
		}
	}
	to := p.Issuer + CallbackPath + "?" + url.Values{"authId": {req.ID}}.Encode()
	if req.ResponseMode != "form_post" { // form_post needs a page
		more, err := p.authorizationResponse(w, r, req)
		if err != nil {
			return err
		}
		p.addCommonParameters(req, more)
		to = withQuery(req.RedirectURI, more)
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]string{"redirect_uri": to})
}

// readCallback reads the body, which is JSON, so that pages of other origins cannot send it without
// a preflight.
func readCallback(w http.ResponseWriter, r *http.Request) (*callbackBody, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, errorf(codeInvalidRequest, "expected the body as application/json")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if err != nil {
		return nil, errorf(codeInvalidRequest, "the body is too large, or ended before it was complete")
	}
	var body callbackBody
	if err := json.Unmarshal(text, &body); err != nil || body.AuthID == "" {
		return nil, errorf(codeInvalidRequest, "expected an object with authId and assertion")
	}
	return &body, nil
}

// Open returns the authorization request for a new run: an unanswered one that this browser
// started. Any other is auth_request_not_found, Class Invalid.
func (p *Provider) Open(r *http.Request, id string) (*schemas.AuthRequest, error) {
	if !p.hasAuthorizationEndpoint() {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeAuthRequest, "there are no authorization requests here: leave authId out")
	}
	req, err := p.Authorization.Requests.AuthRequest(r.Context(), id)
	if err == nil && (!p.now().Before(req.ExpiresAt) || req.Grant != nil || req.Refusal != nil || !bytes.Equal(p.Browser(r), req.BrowserHash)) {
		err = schemas.Errorf(schemas.Invalid, schemas.CodeAuthRequest,
			"there is no such authorization request in this browser, or it has expired or been answered: go back to the application and sign in again")
	}
	return req, err
}

// requestOfBrowser returns a request that this browser started. With the authId from a link or a
// log alone, a user would be signed in to another user's account.
func (p *Provider) requestOfBrowser(w http.ResponseWriter, r *http.Request, id string) (*schemas.AuthRequest, error) {
	req, err := p.Authorization.Requests.AuthRequest(r.Context(), id)
	if schemas.HasCode(err, schemas.CodeAuthRequest) || err == nil && !p.now().Before(req.ExpiresAt) {
		return nil, errorf(codeInvalidRequest, "there is no such authorization request, or it has expired: go back to the application and sign in again")
	}
	if err != nil {
		return nil, err
	}
	browser := p.Browser(r)
	if browser == nil {
		browser = cookieJustSet(w.Header(), p.cookie(browserCookie, "").Name)
	}
	if !bytes.Equal(browser, req.BrowserHash) {
		return nil, &Error{Status: http.StatusForbidden, Code: codeAccessDenied,
			Description: "this sign-in was begun in another browser, or without cookies: go back to the application and sign in again"}
	}
	return req, p.stillRegistered(r.Context(), req)
}

// stillRegistered checks that the redirect URI is still registered: removing one, for example
// because its domain has a new owner, must take effect at once.
func (p *Provider) stillRegistered(ctx context.Context, req *schemas.AuthRequest) error {
	c, err := p.clientNamed(ctx, req.ClientID)
	if err == nil && !c.redirects(req.RedirectURI) {
		err = errorf(codeInvalidRequest, "the redirect_uri is not registered for this client any more: go back to the application and sign in again")
	}
	return err
}

// cookieJustSet is the hash of a cookie that this reply sets: a sign-in without a step completes
// within the first request.
func cookieJustSet(h http.Header, name string) []byte {
	for _, line := range h.Values("Set-Cookie") {
		if c, err := http.ParseSetCookie(line); err == nil && c.Name == name {
			return schemas.HashSecret(c.Value)
		}
	}
	return nil
}

// authorizationResponse is the answer to a granted or refused request.
func (p *Provider) authorizationResponse(w http.ResponseWriter, r *http.Request, req *schemas.AuthRequest) (url.Values, error) {
	if req.Refusal != nil {
		return refusalParameters(req), nil
	}
	return p.answerWithLibrary(w, r, req)
}

// answerWithLibrary issues the code of a granted request, once, and stores the session in the
// browser if the user signed in here. Otherwise the assertion of one application could sign its
// holder in to all others.
func (p *Provider) answerWithLibrary(w http.ResponseWriter, r *http.Request, req *schemas.AuthRequest) (url.Values, error) {
	code, now := schemas.NewSecret(), p.now()
	err := p.Authorization.Requests.IssueCode(r.Context(), req.ID, schemas.HashSecret(code), now.Add(codeTTL), now)
	if schemas.HasCode(err, schemas.CodeAuthRequest) {
		return nil, errAnswered()
	}
	if err != nil {
		return nil, err
	}
	err = checkGrant(req)
	if err == nil {
		err = p.checkConsent(r.Context(), req)
	}
	if err != nil {
		reported, worded := errors.AsType[*Error](err)
		if !worded {
			return nil, err
		}
		return url.Values{"error": {reported.Code}, "error_description": {reported.Description}}, nil
	}
	if !req.Grant.ByAssertion {
		err = p.signIn(w, r, req.Grant.SessionID)
	}
	return url.Values{codeParameter: {code}}, err
}

// grantBy grants a request with the assertion of its run, unless the run has granted it already.
func (p *Provider) grantBy(ctx context.Context, req *schemas.AuthRequest, assertion string) error {
	claims, err := p.verifyAnswer(ctx, req, assertion)
	if err != nil || req.Grant != nil {
		return err
	}
	// The class comes from the session: an assertion of an earlier release may state more.
	session, err := p.Authorization.Sessions.Session(ctx, claims.Session)
	if err != nil {
		return err
	}
	if session == nil {
		return errToken(http.StatusUnauthorized, codeInvalidToken, "the session of the assertion has ended: sign in again")
	}
	grant := schemas.Grant{
		UserID: claims.Subject, SessionID: claims.Session, AuthTime: claims.AuthTime, AMR: session.AMR,
		ACR: schemas.AnsweredACR(session.ACR, req.Login.ACRValues), ByAssertion: true, Generation: claims.Generation,
	}
	err = p.Authorization.Requests.Apply(ctx, []schemas.Change{
		schemas.GrantAuthRequest{ID: req.ID, Grant: grant, BrowserHash: req.BrowserHash, At: p.now()},
	})
	switch {
	case schemas.HasCode(err, schemas.CodeSuperseded):
		return errToken(http.StatusUnauthorized, codeInvalidToken, "the session of the assertion has ended")
	case schemas.HasCode(err, schemas.CodeAuthRequest):
		return errAnswered() // by a concurrent call
	}
	req.Grant = &grant
	return err
}

// verifyAnswer verifies an assertion as the answer to a request. It must come from a run that
// started for this request: with the assertion of another run, an attacker could sign a user in to
// another account, or replay a sign-in for something else.
func (p *Provider) verifyAnswer(ctx context.Context, req *schemas.AuthRequest, assertion string) (*token.Claims, error) {
	claims, err := p.Authorization.Tokens.Verify(ctx, assertion, p.Issuer)
	if schemas.HasClass(err, schemas.Unauthenticated) {
		return nil, errToken(http.StatusUnauthorized, codeInvalidToken, "the assertion is not valid: %s", schemas.AsError(err).Description.DefaultValue)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case claims.Type != token.AssertionType || claims.Session == "" || !slices.Contains(claims.Audience, req.ApplicationID):
		return nil, errToken(http.StatusUnauthorized, codeInvalidToken, "the assertion is not of a sign-in to the application that asks")
	case claims.AuthRequest != req.ID:
		return nil, errToken(http.StatusUnauthorized, codeInvalidToken,
			"the assertion is of another run than this authorization request began: continue the executionId that came with the authId, or send the authId when you start a run")
	case req.Grant != nil && claims.Session != req.Grant.SessionID:
		return nil, errAnswered()
	}
	return claims, nil
}

// errAnswered rejects a second answer to a request.
func errAnswered() *Error {
	return errorf(codeInvalidRequest, "this request has been answered already: go back to the application")
}
