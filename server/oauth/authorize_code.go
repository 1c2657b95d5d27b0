package oauth

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// codeTTL is the lifetime of an authorization code.
const codeTTL = time.Minute

// issueCode redirects the browser to the client with the answer to a request that is granted or
// refused. The hash is that of the browser's cookie.
func (p *Provider) issueCode(w http.ResponseWriter, r *http.Request, id string, browser []byte) error {
	req, answer, err := p.answer(w, r, id, browser)
	if err != nil {
		return err
	}
	return p.redirectToClient(w, r, req, answer)
}

// answer returns a request that is granted or refused, and its answer.
func (p *Provider) answer(w http.ResponseWriter, r *http.Request, id string, browser []byte) (*schemas.AuthRequest, url.Values, error) {
	if browser == nil { // without a cookie it has no request
		return p.answerWithoutCode(r.Context(), id, browser)
	}
	req, answer, err := p.code(w, r, id, browser)
	if schemas.HasCode(err, schemas.CodeAuthRequest) {
		return p.answerWithoutCode(r.Context(), id, browser)
	}
	return req, answer, err
}

// requestOfBrowser returns a request that this browser started, and that can be answered. With the authId
// from a link or a log alone, a user would be signed in to another user's account.
func (p *Provider) requestOfBrowser(ctx context.Context, id string, browser []byte) (*schemas.AuthRequest, error) {
	req, err := p.Store.AuthRequest(ctx, id)
	if schemas.HasCode(err, schemas.CodeAuthRequest) || err == nil && !p.now().Before(req.ExpiresAt) {
		return nil, errLost(http.StatusBadRequest, codeInvalidRequest, "there is no such authorization request, or it has expired: go back to the application and sign in again")
	}
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(browser, req.BrowserHash) {
		return nil, errLost(http.StatusForbidden, codeAccessDenied, "this sign-in was started in another browser, or without cookies: go back to the application and sign in again")
	}
	_, err = p.clientOf(ctx, req)
	return req, err
}

// clientOf returns the client of a request. The redirect URI must still be registered: removing one, for
// example because its domain has a new owner, must take effect at once.
func (p *Provider) clientOf(ctx context.Context, req *schemas.AuthRequest) (*client, error) {
	c, err := p.findClient(ctx, req.ClientID)
	if err == nil && !c.redirects(req.RedirectURI) {
		err = errorf(codeInvalidRequest, "the redirect_uri is no longer registered for this client: go back to the application and sign in again")
	}
	return c, err
}

// code returns a granted request and its answer, in one write: a code, or the error of a grant that does not
// satisfy the request. A code is issued once, and stores the session in the browser if
// the user signed in here. Otherwise the assertion of one application could sign its holder in to all others.
// With an error the session stays without a browser.
// A request that is not granted, or answered before, is auth_request_not_found.
func (p *Provider) code(w http.ResponseWriter, r *http.Request, id string, browser []byte) (*schemas.AuthRequest, url.Values, error) {
	token, value := newBrowserToken(browser)
	code, now := schemas.NewSecret(), p.now()
	req, bound, err := p.Store.IssueCode(r.Context(), schemas.IssuedCode{RequestID: id, BrowserHash: browser, CodeHash: schemas.HashSecret(code),
		At: now, Expires: now.Add(codeTTL), Token: &token})
	if err != nil {
		return nil, nil, err
	}
	answer, granted, err := p.answerTo(r.Context(), req, code)
	switch {
	case bound && granted:
		http.SetCookie(w, p.cookie(sessionCookie, value))
	case bound: // the browser does not get the token
		token.SessionID = req.Grant.SessionID
		err = errors.Join(err, p.Store.UnbindSession(context.WithoutCancel(r.Context()), token))
	}
	return req, answer, err
}

// answerTo returns the answer to a request that has a code, and whether its grant satisfies it.
func (p *Provider) answerTo(ctx context.Context, req *schemas.AuthRequest, code string) (answer url.Values, granted bool, err error) {
	c, err := p.clientOf(ctx, req)
	if err != nil {
		return nil, false, err
	}
	if refused := checkGrant(c, req); refused != nil {
		return refused.parameters(), false, nil
	}
	return url.Values{"code": {code}}, true, nil
}

// answerWithoutCode returns a request for which no code can be issued, and its answer. A refusal can be sent
// again: it contains nothing else.
func (p *Provider) answerWithoutCode(ctx context.Context, id string, browser []byte) (*schemas.AuthRequest, url.Values, error) {
	req, err := p.requestOfBrowser(ctx, id, browser)
	switch {
	case err != nil:
		return nil, nil, err
	case req.Refusal != nil:
		return req, errorf(req.Refusal.Code, "%s", req.Refusal.Description).parameters(), nil
	case req.Grant == nil:
		return nil, nil, errorf(codeInvalidRequest, "the sign-in for this request is not finished: go back and finish it")
	}
	return nil, nil, errAnswered()
}

// errAnswered rejects a second answer to a request.
func errAnswered() *Error {
	return errLost(http.StatusBadRequest, codeInvalidRequest, "this request has been answered already: go back to the application")
}

// checkGrant checks that a grant satisfies the request, whichever flow it came from.
func checkGrant(c *client, req *schemas.AuthRequest) *Error {
	g := req.Grant
	early := g.AuthTime.Before(req.CreatedAt.Truncate(time.Second)) // assertions have times in whole seconds
	switch {
	case req.Login.Subject != "" && req.Login.Subject != g.UserID:
		return errorf(codeLoginRequired, "another user than that of id_token_hint has signed in")
	case early && (hasPrompt(req, "login") || hasPrompt(req, "select_account")):
		return errorf(codeLoginRequired, "the client requires a new sign-in (prompt), but the user signed in before this request: sign in again")
	case early && req.Login.MaxAge != nil && req.CreatedAt.Sub(g.AuthTime) > seconds(*req.Login.MaxAge):
		return errorf(codeLoginRequired, "the sign-in is older than the client allows by max_age")
	case req.Login.RequiredACR && !slices.Contains(req.Login.ACRValues, g.ACR):
		return errorf(schemas.RefusedClass, "the client requires one of the classes %s, and the sign-in has the class %s: sign in in another way", strings.Join(req.Login.ACRValues, ", "), g.ACR)
	// OpenID Connect Core §3.1.2.4
	case !g.Consented && (c.AsksConsent() || hasPrompt(req, "consent")):
		return errorf(codeConsentRequired, "the client's request requires the user's consent: send the user through the sign-in page")
	}
	return nil
}
