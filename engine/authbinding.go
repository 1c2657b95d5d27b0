package engine

import (
	"bytes"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// authBinding is the part of the authorization request that a run stores.
type authBinding struct {
	ID        string             `json:"id"`
	Login     schemas.LoginRules `json:"login,omitzero"`
	LoginHint string             `json:"loginHint,omitempty"`
	// Browser is the BrowserHash of the request; nil for a run of an earlier release.
	Browser []byte `json:"browser,omitempty"`
}

// bindAuthRequest binds the run to the authorization request that it answers, if any. The run then
// belongs to the browser that sent that request. A request of another application is an error: its
// client would get a sign-in by the flow of this application.
func (r *run) bindAuthRequest(req *Request) error {
	auth := req.AuthRequest
	if auth == nil {
		return nil
	}
	if auth.ApplicationID != r.app.ID {
		return fmt.Errorf("authorization request %s belongs to application %s, but its run was started for application %s", auth.ID, auth.ApplicationID, r.app.ID)
	}
	req.Browser = auth.BrowserHash
	if req.StoresAuthRequest {
		r.preceding = []schemas.Change{schemas.CreateAuthRequest{Request: *auth}}
	}
	r.state.AuthRequest = &authBinding{ID: auth.ID, Login: auth.Login, LoginHint: auth.LoginHint, Browser: auth.BrowserHash}
	return nil
}

// authorizeRequest stores the request and reports whether it may continue the run. A run whose
// subject was authenticated by a browser session continues only with that session, and therefore
// only in that browser and while the session lives. For any other caller that obtained the run's
// ID, the run does not exist.
//
// A hosted page continues a run that answers an authorization request only in the browser of the request. In any
// other, the answer would be refused at the end: the user must learn that before entering a password.
//
// A run without an authorization request never sees the session. Its replies go to any caller,
// for example a page on another origin whose requests carry the browser's cookies. The result of
// an authorization request goes to its client only.
func (r *run) authorizeRequest(req Request) bool {
	r.request = req
	if r.state.AuthRequest == nil {
		r.request.Session = nil
	}
	if b := r.state.AuthRequest; b != nil && b.Browser != nil && req.SignsIn && !bytes.Equal(b.Browser, req.Browser) {
		return false
	}
	auth := r.state.Auth
	if auth == nil || auth.Session == "" {
		return true
	}
	return r.request.Session != nil && r.request.Session.ID == auth.Session
}
