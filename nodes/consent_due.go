package nodes

import (
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Whether somebody is to be asked before a client gets what it asks for
//
// An administrator who registers an application answers for it: its users are not
// asked, unless the application says requireConsent, or its client asks for that
// with prompt=consent (OpenID Connect Core §3.1.2.1). A client that nobody here
// knows is never answered without consent, be it for refresh tokens (§11) or for no
// more than who the user is.
//
// What is asked about are the scopes that tokens would really carry: of permissions
// those that the user has. What the user has agreed to before is not asked again.
//
// Permissions of this server's own API are different for a client that nobody vouches
// for, as anybody can publish one: whoever gets them runs the server. A user who has
// them gives them only after a sign-in for this very request, at most MaxProofAge ago,
// and is asked each time. No session and no earlier consent does instead.
//
// The node consent asks; authorization-code refuses what should have been asked and
// was not, so that it does not depend on who writes flows.

// dueConsent is what a person has to agree to before the run's authorization
// request may be granted.
type dueConsent struct {
	request *schemas.AuthRequest
	user    *schemas.User
	scopes  []string // all that the client would get
	asked   []string // those of them that the person has not agreed to yet
	ask     bool     // whether there is anything to ask
	approve []string // those of the scopes that take a fresh sign-in
}

// consentDue returns what the run's user has to agree to; nil where nobody is asked,
// or the run answers no authorization request.
func (d Deps) consentDue(ctx context.Context, v *engine.Visit) (*dueConsent, error) {
	approveAgain := slices.Contains(v.Login.Prompt, "consent")
	if v.AuthRequestID == "" || !approveAgain && !asksConsent(v.Application) {
		return nil, nil
	}
	due := &dueConsent{}
	var err error
	if due.user, err = subjectUser(ctx, d.Users, v); err != nil {
		return nil, err
	}
	if due.request, err = d.Requests.AuthRequest(ctx, v.AuthRequestID); err != nil {
		return nil, err
	}
	known, has, err := d.consented(ctx, v)
	if err != nil {
		return nil, err
	}
	due.scopes = schemas.GrantableScopes(due.request.Scopes, has)
	if !v.Application.IsTrusted() {
		due.approve = schemas.ManagementScopes(due.scopes)
	}
	if approveAgain {
		due.asked, due.ask = due.scopes, true
		return due, nil
	}
	missing, ask := known.Missing(due.scopes, v.Now)
	due.asked = slices.DeleteFunc(slices.Clone(due.scopes), func(scope string) bool {
		return !slices.Contains(missing, scope) && !slices.Contains(due.approve, scope)
	})
	due.ask = ask || len(due.approve) > 0
	return due, nil
}

// isFresh reports whether the user has signed in for the request, and recently enough for
// what there is to approve.
func (due *dueConsent) isFresh(v *engine.Visit) bool {
	auth := v.Authentication
	begun := due.request.CreatedAt.Truncate(time.Second) // the times of identity providers are whole seconds
	return len(due.approve) == 0 ||
		auth != nil && auth.Session == "" && !auth.Time.Before(begun) && v.Now.Sub(auth.Time) <= schemas.MaxProofAge
}

// consented is what the user lets the application have, and what they may do. A
// user who is not stored yet has agreed to nothing, and may nothing.
func (d Deps) consented(ctx context.Context, v *engine.Visit) (*schemas.Consent, []string, error) {
	if v.Subject.Draft != nil {
		return nil, nil, nil
	}
	known, err := d.Consents.Consent(ctx, v.Subject.UserID, applicationID(v))
	if err != nil {
		return nil, nil, err
	}
	has, err := d.Permissions.Permissions(ctx, v.Subject.UserID)
	return known, has, err
}

func asksConsent(app *schemas.Application) bool { return app != nil && app.AsksConsent() }

// refuse ends a run by refusing its authorization request.
func (d Deps) refuse(v *engine.Visit, with schemas.Refusal, e *schemas.Error, record schemas.RecordEvent) *engine.Decision {
	return &engine.Decision{Refuse: &engine.Refusal{
		Error: e, RedirectURL: d.wayBack(v),
		Changes: []schemas.Change{
			schemas.RefuseAuthRequest{ID: v.AuthRequestID, Refusal: with, BrowserHash: v.Request.Browser, At: v.Now},
			record,
		},
	}}
}
