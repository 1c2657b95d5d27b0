package oauth

import (
	"context"
	"encoding/json"
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
		return p.renderErrorPage(w, r, nil, errorf(codeInvalidRequest, "expected one authId"))
	}
	err := p.issueCode(w, r, ids[0], p.browser(r))
	if err == nil {
		return nil
	}
	return p.renderErrorPage(w, r, p.applicationOf(r.Context(), ids[0]), err)
}

// applicationOf returns a request with the client alone, for a page that leads back to it; nil if it is not known.
func (p *Provider) applicationOf(ctx context.Context, id string) *authorizeRequest {
	req, err := p.Store.AuthRequest(ctx, id)
	if err != nil {
		return nil
	}
	c, err := p.findClient(ctx, req.ClientID)
	if err != nil {
		return nil
	}
	return &authorizeRequest{client: c}
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
	req, err := p.requestOfBrowser(r.Context(), body.AuthID, p.browser(r))
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
		_, more, err := p.answer(w, r, req.ID, p.browser(r))
		if err != nil {
			return err
		}
		p.addCommonParameters(req, more)
		to = withQuery(req.RedirectURI, more)
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]string{"redirect_uri": to})
}

func readCallback(w http.ResponseWriter, r *http.Request) (*callbackBody, error) {
	text, err := readJSON(w, r, maxForm)
	if err != nil {
		return nil, err
	}
	var body callbackBody
	if err := json.Unmarshal(text, &body); err != nil || body.AuthID == "" {
		return nil, errorf(codeInvalidRequest, "expected an object with authId and assertion")
	}
	return &body, nil
}

// grantBy grants a request with the assertion of its run, unless the run has granted it already.
func (p *Provider) grantBy(ctx context.Context, req *schemas.AuthRequest, assertion string) error {
	claims, err := p.verifyAnswer(ctx, req, assertion)
	if err != nil || req.Grant != nil {
		return err
	}
	// The class and its time come from the session: an assertion of an earlier release may state more.
	session, err := p.Store.Session(ctx, claims.Session)
	if err != nil {
		return err
	}
	if session == nil {
		return errToken(http.StatusUnauthorized, codeInvalidToken, "the session of the assertion has ended: sign in again")
	}
	acr, amr := schemas.AnsweredACR(session.ACR, req.Login.ACRValues), session.AMR
	since := session.AuthTime(acr)
	if acr != session.ACR {
		amr = schemas.MethodsSince(session.Evidence(), since)
	}
	grant := schemas.Grant{
		UserID: claims.Subject, SessionID: claims.Session, AuthTime: since, AMR: amr,
		ACR: acr, ByAssertion: true, Generation: claims.Generation,
	}
	err = p.Store.Apply(ctx, []schemas.Change{
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
	claims, err := p.Tokens.Verify(ctx, assertion, p.Issuer)
	if schemas.HasClass(err, schemas.Unauthenticated) {
		return nil, errToken(http.StatusUnauthorized, codeInvalidToken, "the assertion is not valid: %s", schemas.AsError(err).Description.DefaultValue)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case claims.Type != token.AssertionType || claims.Session == "" || !slices.Contains(claims.Audience, req.ApplicationID):
		return nil, errToken(http.StatusUnauthorized, codeInvalidToken, "the assertion is from a sign-in to another application than that of the request")
	case claims.AuthRequest != req.ID:
		return nil, errToken(http.StatusUnauthorized, codeInvalidToken,
			"the assertion is from another run than that of this authorization request: continue the executionId that came with the authId, or send the authId when you start a run")
	case req.Grant != nil && claims.Session != req.Grant.SessionID:
		return nil, errAnswered()
	}
	return claims, nil
}
