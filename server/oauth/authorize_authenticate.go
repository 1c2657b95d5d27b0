package oauth

import (
	"net/http"
	"net/url"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/runs"
)

// authenticate stores the request and starts a run of the application's flow for it. It returns the
// page on which the user continues the run; "" if the run is over and has answered the request.
func (p *Provider) authenticate(w http.ResponseWriter, r *http.Request, a *authorizeRequest, req *schemas.AuthRequest) (page string, err error) {
	run := runs.NewRequest(r)
	run.AuthRequest, run.StoresAuthRequest = req, true
	if run.Session, err = p.session(r); err != nil {
		return "", err
	}
	if run.Session != nil && req.Login.Subject != "" && req.Login.Subject != run.Session.UserID {
		run.Session = nil // another user than the client expects
	}
	silent := hasPrompt(req, "none")
	if silent && (run.Session == nil || !req.Login.Accept(run.Session, p.now())) {
		return "", errorf(codeLoginRequired, "there is no session that satisfies the request")
	}
	if err := p.extendExpiry(r.Context(), a.client.Application, requestTTLAsked); err != nil {
		return "", err
	}
	req.BrowserHash = p.ensureBrowser(w, r)
	step, err := p.Runs.Begin(r.Context(), req.ApplicationID, schemas.Authentication, nil, run)
	if schemas.HasClass(err, schemas.Invalid) || schemas.HasClass(err, schemas.NotFound) { // an administrator must fix it
		return "", errorf(codeServerError, "the sign-in cannot begin: %s", schemas.AsError(err).Description.DefaultValue)
	}
	if err != nil {
		return "", err
	}
	switch {
	// A run that waits for another provider has a redirectURL too; the pages follow it, because the
	// answer returns to them.
	case step.FlowStatus == schemas.Complete, step.FlowStatus == schemas.Failed && step.Data.RedirectURL != "":
		return "", nil
	case step.FlowStatus == schemas.Failed && step.Error == nil:
		return "", errorf(codeAccessDenied, "the sign-in failed: the flow ended in an error")
	case step.FlowStatus == schemas.Failed:
		return "", errorf(codeAccessDenied, "the sign-in failed: %s", step.Error.Description.DefaultValue)
	case silent && step.Data.AdditionalData[schemas.ConsentData] != "":
		return "", errorf(codeConsentRequired, "the user is signed in, but has not consented to everything that the client requests: ask for consent")
	case silent:
		return "", errorf(codeLoginRequired, "the user's session is not sufficient for this application: sign the user in again")
	}
	return p.hostedPageURL(req, step.ExecutionID, a.form.Get("ui_locales")), nil
}

// hostedPageURL returns the page on which the user continues the run. The address states once that
// the run has just started: the pages remove that, and redirect to another provider automatically
// only then.
func (p *Provider) hostedPageURL(req *schemas.AuthRequest, executionID, locales string) string {
	q := url.Values{"applicationId": {req.ApplicationID}, "authId": {req.ID}, "executionId": {executionID}, "begun": {"1"}}
	if locales != "" {
		q.Set("ui_locales", locales)
	}
	if req.LoginHint != "" {
		q.Set("login_hint", req.LoginHint)
	}
	return p.Gate + "/signin?" + q.Encode()
}
