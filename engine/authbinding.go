package engine

import (
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// authBinding is what a run keeps of the authorization request it answers.
type authBinding struct {
	ID        string             `json:"id"`
	Login     schemas.LoginRules `json:"login,omitzero"`
	LoginHint string             `json:"loginHint,omitempty"`
}

// bindAuthRequest binds the run to the authorization request that it is to answer, if any.
// It begins in the browser that the authorization request came from. One of
// another application would give its client a sign-in by rules that are not its
// own.
func (r *run) bindAuthRequest(req *Request) error {
	auth := req.AuthRequest
	if auth == nil {
		return nil
	}
	if auth.ApplicationID != r.app.ID {
		return fmt.Errorf("authorization request %s is of application %s; its run was started for application %s", auth.ID, auth.ApplicationID, r.app.ID)
	}
	req.Browser = auth.BrowserHash
	r.state.AuthRequest = &authBinding{ID: auth.ID, Login: auth.Login, LoginHint: auth.LoginHint}
	return nil
}

// authorizeRequest takes the request and reports whether it may continue the run. A run
// whose subject was authenticated by a browser's session goes on only with that
// session, and thus in that browser and while the session lasts: whoever else
// got hold of the run's id is told that there is no such run.
//
// A run that answers no authorization request is not told of a session at all:
// its replies go to whoever asks, such as a page that the browser's cookies come
// along for, while an authorization request is answered to its client alone.
func (r *run) authorizeRequest(req Request) bool {
	r.request = req
	if r.state.AuthRequest == nil {
		r.request.Session = nil
	}
	auth := r.state.Auth
	if auth == nil || auth.Session == "" {
		return true
	}
	return r.request.Session != nil && r.request.Session.ID == auth.Session
}
