package nodes

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// When consent is required
//
// An administrator who registers an application answers for it: its users are not asked, unless the
// application sets requireConsent or the client sends prompt=consent (OpenID Connect Core section
// 3.1.2.1). An untrusted client always needs consent, also for refresh tokens (section 11) and for
// nothing more than the user's identity.
//
// The user is asked about the scopes that the tokens would really contain; of permissions, those
// that the user has. Scopes with an earlier consent are not asked again.
//
// A scope whose claims have grown since is asked again.
//
// Permissions of this API are different for an untrusted client, because anyone can publish one and
// the permissions control the server. A user who has them grants them only after a sign-in for this
// very request, at most MaxProofAge ago, and is asked each time. Sessions and earlier consents are
// not sufficient.
//
// The consent node asks; authorization-code rejects what should have been asked and was not, so
// that the protection does not depend on flow authors.

// dueConsent is what a user has to agree to before the run's authorization request can be granted.
type dueConsent struct {
	request *schemas.AuthRequest
	user    *schemas.User
	scopes  []string // everything that the client would get
	asked   []string // those without an earlier consent
	ask     bool     // whether there is anything to ask
	approve []string // those that need a fresh sign-in

	client *schemas.Application // with its OAuth configuration
	claims *claims.Set
}

// released returns the claims that each scope releases.
func (due *dueConsent) released() map[string][]string {
	released := map[string][]string{}
	for _, scope := range due.scopes {
		released[scope] = due.claims.Released(scope)
	}
	return released
}

// grown returns the scopes that release more than the user consented to.
func (due *dueConsent) grown(known *schemas.Consent) (scopes []string) {
	for scope, released := range due.released() {
		if known != nil && slices.ContainsFunc(released, func(claim string) bool { return !known.Releases(scope, claim) }) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

// consentDue returns what the run's user has to agree to; nil if no consent is required or the run
// answers no authorization request.
func (d Deps) consentDue(ctx context.Context, v *engine.Visit) (*dueConsent, error) {
	approveAgain := slices.Contains(v.Login.Prompt, "consent")
	if v.AuthRequestID == "" || !approveAgain && !asksConsent(v.Application) {
		return nil, nil
	}
	due := &dueConsent{}
	var err error
	if due.user, err = d.subjectUser(ctx, v); err != nil {
		return nil, err
	}
	if due.request, err = d.authRequest(ctx, v); err != nil {
		return nil, err
	}
	known, has, err := d.consented(ctx, v)
	if err != nil {
		return nil, err
	}
	if due.client, err = d.Directory.Client(ctx, due.request.ClientID); err != nil {
		return nil, err
	}
	identity, err := d.Directory.IdentityScopes(ctx, due.client.OAuth())
	if err != nil {
		return nil, err
	}
	servers, err := d.Directory.ServerClaims(ctx, due.request.Resources)
	if err != nil {
		return nil, err
	}
	due.claims = claims.Of(due.client, claims.Context{Identity: identity, Servers: servers})
	due.scopes = schemas.GrantableScopes(due.request.Scopes, has, identity)
	if !v.Application.IsTrusted() {
		due.approve = schemas.ManagementScopes(due.scopes)
	}
	if approveAgain {
		due.asked, due.ask = due.scopes, true
		return due, nil
	}
	missing, ask := known.Missing(due.scopes, v.Now)
	grown := due.grown(known)
	missing, ask = slices.Concat(missing, grown), ask || len(grown) > 0
	due.asked = slices.DeleteFunc(slices.Clone(due.scopes), func(scope string) bool {
		return !slices.Contains(missing, scope) && !slices.Contains(due.approve, scope)
	})
	due.ask = ask || len(due.approve) > 0
	return due, nil
}

// isFutile reports whether the client would get none of the scopes that it requests.
func (due *dueConsent) isFutile() bool {
	return due != nil && len(due.scopes) == 0 && len(due.request.Scopes) > 0
}

// authRequest returns the authorization request of a run. That of a run that begins may not be stored yet.
func (d Deps) authRequest(ctx context.Context, v *engine.Visit) (*schemas.AuthRequest, error) {
	if r := v.Request.AuthRequest; r != nil && r.ID == v.AuthRequestID {
		return r, nil
	}
	return d.Store.AuthRequest(ctx, v.AuthRequestID)
}

// isFresh reports whether the user has signed in for this request, and recently enough for an
// approval.
func (due *dueConsent) isFresh(v *engine.Visit) bool {
	auth := v.Authentication
	begun := due.request.CreatedAt.Truncate(time.Second) // identity providers report times in whole seconds
	return len(due.approve) == 0 ||
		auth != nil && auth.Session == "" && !auth.Time.Before(begun) && v.Now.Sub(auth.Time) <= schemas.MaxProofAge
}

// consented returns the stored consent of the user for the application, and the user's permissions.
// A user that is not stored yet has neither.
func (d Deps) consented(ctx context.Context, v *engine.Visit) (*schemas.Consent, []string, error) {
	if v.Subject.Draft != nil {
		return nil, nil, nil
	}
	known, err := d.Store.Consent(ctx, v.Subject.UserID, applicationID(v))
	if err != nil {
		return nil, nil, err
	}
	has, err := d.Store.Permissions(ctx, v.Subject.UserID)
	return known, has, err
}

func asksConsent(app *schemas.Application) bool { return app != nil && app.AsksConsent() }

// refuse ends a run and rejects its authorization request, if it answers one.
func (d Deps) refuse(v *engine.Visit, with schemas.Refusal, e *schemas.Error, record schemas.RecordEvent) *engine.Decision {
	r := &engine.Refusal{}
	if v.AuthRequestID != "" {
		r = d.refuseRequest(v.AuthRequestID, with, &v.Request, v.Now)
	}
	r.Error, r.Changes = e, append(r.Changes, record)
	return &engine.Decision{Refuse: r}
}

// refuseRequest returns what rejects an authorization request.
func (d Deps) refuseRequest(id string, with schemas.Refusal, r *engine.Request, now time.Time) *engine.Refusal {
	refused := schemas.RefuseAuthRequest{ID: id, Refusal: with, BrowserHash: r.Browser, At: now}
	return &engine.Refusal{RedirectURL: d.wayBack(id), Changes: []schemas.Change{refused}}
}

// RefuseUnanswered returns engine.Engine.Unanswered for the server at an address.
func RefuseUnanswered(baseURL string) func(string, *engine.Request, time.Time) *engine.Refusal {
	with := schemas.Refusal{Code: schemas.RefusedAccessDenied, Description: "the flow ended without a sign-in"}
	return func(authRequestID string, r *engine.Request, now time.Time) *engine.Refusal {
		return Deps{BaseURL: baseURL}.refuseRequest(authRequestID, with, r, now)
	}
}

// refuseFutile ends a run for a client that requests only permissions that the user does not have.
// Otherwise the client would get a token without scopes, perhaps after asking the user about an empty list.
func (d Deps) refuseFutile(v *engine.Visit, scopes []string) *engine.Decision {
	lacking := strings.Join(scopes, ", ")
	return d.refuse(v,
		schemas.Refusal{Code: schemas.RefusedAccessDenied, Description: "the user has none of the requested permissions: " + lacking + "; a role of the user must grant one of them"},
		schemas.Errorf(schemas.Forbidden, codePermissionsMissing,
			"%q requests only permissions that you do not have: %s. Ask an administrator for a role that grants them, or sign in as another user", v.Application.Name, lacking),
		consentMissing(v, schemas.ReasonNoPermissions, scopes))
}

// codePermissionsMissing is the error code of a run whose user has none of the requested permissions.
const codePermissionsMissing = "permissions_missing"
