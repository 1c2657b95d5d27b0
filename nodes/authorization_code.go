package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

func authorizationCodeKind(d Deps) declared {
	return configured[authorizationCode](d, engine.Kind{
		Name: "authorization-code",
		Open: true,
		Doc: "Ends the run with an assertion: a signed statement of who the user is and how they authenticated. " +
			"A run that answers an authorization request grants it, and returns the redirect to its client.",
		Needs: []engine.Need{{
			AnyOf: []engine.Fact{engine.Authenticated},
			Rule:  engine.RuleUnauthenticated,
			Why:   "it would issue a code for an unauthenticated user",
			Fix:   "put a node that authenticates, such as passkey-authenticate, on every path before it",
		}},
		Terminal: true,
	}, errorCodes{schemas.CodeUserTypeNotAllowed, codeConsentRequired, codePermissionsMissing, schemas.CodeAuthRequest},
		row{"ends the run with an assertion; grants the authorization request that the run answers", "—"})
}

// sessionTTLWithoutServer is the lifetime of browser sessions in scenario tests. A server always sets
// Deps.SessionTTL.
const sessionTTLWithoutServer = 12 * time.Hour

type authorizationCode struct {
	node
	// unbound is the rule for the permissions of a sign-in to no application; nil grants none.
	unbound func(context.Context, *engine.Visit, *schemas.User) ([]string, error)
}

func (*authorizationCode) prepare(*engine.Config) []schemas.Problem { return nil }

// Execute signs the assertion and starts its session, unless the run continued an existing session.
// If the step does not commit, there is no session and no grant, and the assertion of the new
// session is worthless.
func (a *authorizationCode) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Authentication == nil {
		return nil, errors.New("reached without an authenticated user; the check of the flow should have rejected it")
	}
	user, err := a.deps.subjectUser(ctx, v)
	if err != nil {
		return nil, err
	}
	if !allowsUserType(v.Application, user) {
		return &engine.Decision{Fail: refuseUserType(v.Application, user)}, nil
	}
	if refused, err := a.checkConsent(ctx, v); refused != nil || err != nil {
		return refused, err
	}
	has, err := a.userPermissions(ctx, v, user)
	if err != nil {
		return nil, err
	}
	if a.isFutile(v, has) {
		return a.deps.refuseFutile(v, v.Login.OnlyPermissions), nil
	}
	permissions, err := a.permissions(ctx, v, user, has)
	if err != nil {
		return nil, err
	}
	return a.signIn(ctx, v, user, permissions)
}

// signIn ends the run with what it was for.
func (a *authorizationCode) signIn(ctx context.Context, v *engine.Visit, user *schemas.User, permissions []string) (*engine.Decision, error) {
	statement, result := a.statement(v, user, permissions), &engine.Result{User: user}
	var err error
	if statement.Declared, err = a.declaredClaims(ctx, v, user); err != nil {
		return nil, err
	}
	if v.Request.WithoutAssertion {
		return &engine.Decision{Result: result, Changes: []schemas.Change{a.signedInEvent(ctx, v, statement)}}, nil
	}
	changes := a.session(v, &statement)
	if result.Assertion, err = a.deps.Asserter.Assert(ctx, statement); err != nil {
		return nil, fmt.Errorf("sign the assertion: %w", err)
	}
	if v.AuthRequestID != "" {
		if values := runValues(v); len(values) > 0 {
			changes = append(changes, schemas.KeepRunValues{RequestID: v.AuthRequestID, SessionID: statement.Session, Values: values})
		}
		changes = append(changes, grant(v, statement))
		result.RedirectURL = a.deps.wayBack(v.AuthRequestID)
	}
	return &engine.Decision{Result: result, Changes: append(changes, a.signedInEvent(ctx, v, statement))}, nil
}

// declaredClaims returns the claims about the user that the application declares for assertions.
func (a *authorizationCode) declaredClaims(ctx context.Context, v *engine.Visit, user *schemas.User) (map[string]any, error) {
	if v.Application == nil {
		return nil, nil
	}
	set := claims.Of(v.Application, claims.Context{}) // assertions need no scope
	if !set.Has(claims.Assertion) {
		return nil, nil
	}
	of, err := a.deps.claimSubject(ctx, v, user, set, nil, claims.Assertion)
	if err != nil {
		return nil, err
	}
	values, _ := set.Limited(claims.Assertion, of)
	return values, nil
}

// claimSubject returns what the claims about the run's user are computed from, with the scopes. A user who is not stored yet
// is in no group and has no role.
func (d Deps) claimSubject(ctx context.Context, v *engine.Visit, user *schemas.User, set *claims.Set, scopes []string, targets ...string) (*claims.Subject, error) {
	of := &claims.Subject{User: user, Application: v.Application, Facts: &schemas.ClaimFacts{}, Run: runValues(v), Scope: scopes,
		Unverified: d.ReleasesUnverified != nil && d.ReleasesUnverified()}
	if v.Subject.Draft != nil || !set.NeedsFacts(of, targets...) {
		return of, nil
	}
	var err error
	of.Facts, err = d.Store.ClaimFacts(ctx, user.ID)
	return of, err
}

// runValues returns the values of the run that claims of the application read.
func runValues(v *engine.Visit) schemas.RunValues {
	if v.Application == nil {
		return nil
	}
	return claims.RunValues(v.Application.Claims, func(name string) (any, bool) {
		input, reply, value, _ := schemas.ParseVariable(name)
		if input != "" {
			text, found := v.Inputs[input] // no secret: see engine.Visit
			return text, found
		}
		of, found := v.Replies[reply][value]
		return of, found
	})
}

func refuseUserType(app *schemas.Application, user *schemas.User) *schemas.Error {
	if app == nil {
		return schemas.Errorf(schemas.Forbidden, schemas.CodeUserTypeNotAllowed,
			"users of type %q may not sign in without an application; sign in to one that allows the type", user.Type)
	}
	return schemas.Errorf(schemas.Forbidden, schemas.CodeUserTypeNotAllowed,
		"users of type %q may not sign in to application %q; sign in to another, or ask its administrator", user.Type, app.Name)
}

// wayBack returns the redirect URL at the end of a run that answers an authorization request.
func (d Deps) wayBack(authRequestID string) string {
	return d.BaseURL + "/oauth2/auth/callback?authId=" + url.QueryEscape(authRequestID)
}

// checkConsent rejects a run of an application that needs consent if the flow did not ask for it:
// flow authors may not expect untrusted clients. The error does not reveal what the run would have
// asked to a caller that started it without an authorization request.
func (a *authorizationCode) checkConsent(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.AuthRequestID == "" && asksConsent(v.Application) {
		return &engine.Decision{Fail: schemas.Errorf(schemas.Forbidden, codeConsentRequired,
			"users must consent before the application %q gets their data, and can do so only if its client redirects them to /oauth2/authorize", v.Application.Name)}, nil
	}
	if v.Facts.Has(engine.Consented) {
		return nil, nil
	}
	due, err := a.deps.consentDue(ctx, v)
	if err != nil || due == nil || !due.ask {
		return nil, err
	}
	const fix = "its administrator must add a consent node before authorization-code"
	return a.deps.refuse(v,
		schemas.Refusal{Code: schemas.RefusedConsentRequired, Description: "the client's request requires consent, and the sign-in flow does not ask for it: " + fix},
		schemas.Errorf(schemas.Forbidden, codeConsentRequired, "%q requires your consent, and this sign-in flow does not ask for it: %s", v.Application.Name, fix),
		consentMissing(v, schemas.ReasonNoConsentStep, due.asked)), nil
}

// codeConsentRequired is the error code of a run that should have asked for consent.
const codeConsentRequired = "consent_required"

// userPermissions returns the permissions of a user. A user that is not stored yet has none.
func (a *authorizationCode) userPermissions(ctx context.Context, v *engine.Visit, user *schemas.User) ([]string, error) {
	if v.Application == nil || v.Subject.Draft != nil {
		return nil, nil
	}
	return a.deps.Store.Permissions(ctx, user.ID)
}

// isFutile reports whether the client would get none of the scopes that it requests. A user who
// registers is stored in any case: an administrator can assign roles only then.
func (a *authorizationCode) isFutile(v *engine.Visit, has []string) bool {
	asked := v.Login.OnlyPermissions
	return v.Subject.Draft == nil && len(asked) > 0 && len(schemas.GrantableScopes(asked, has, nil)) == 0
}

// permissions returns the user's permissions for which the application is registered. Otherwise a
// caller with only the permission to write applications could lead an administrator to an own
// application and obtain the administrator's permissions.
func (a *authorizationCode) permissions(ctx context.Context, v *engine.Visit, user *schemas.User, has []string) ([]string, error) {
	switch {
	case v.Application == nil && a.unbound != nil:
		return a.unbound(ctx, v, user)
	case len(has) == 0:
		return nil, nil
	}
	return a.deps.registeredPermissions(ctx, v.Application, has)
}

// registeredPermissions returns those permissions for which an application is registered.
func (d Deps) registeredPermissions(ctx context.Context, app *schemas.Application, has []string) ([]string, error) {
	registered, err := d.Store.RegisteredScopes(ctx, app.ID)
	shared := schemas.SharedPermissions(has, registered)
	if !app.IsTrusted() { // its client gets them at the token endpoint after approval
		shared = slices.DeleteFunc(shared, schemas.IsManagementScope)
	}
	return shared, err
}

// session adds the assertion to the session that the run continued, or to a new one. A new browser
// session outlives the assertion, because it also serves other applications. It starts at the time
// of the authentication, from which max_age counts.
func (a *authorizationCode) session(v *engine.Visit, s *schemas.Assertion) []schemas.Change {
	if s.Session = v.Authentication.Session; s.Session != "" {
		if v.Application == nil || v.Application.SessionIdleTimeout == 0 {
			return nil
		}
		return []schemas.Change{schemas.UseSession{SessionID: s.Session, ApplicationID: v.Application.ID, At: v.Now}}
	}
	session := s.StartSession(applicationID(v), v.Request.UserAgent, v.Now)
	session.CreatedAt, session.Proofs = v.Authentication.Time, v.Authentication.Proofs
	if v.AuthRequestID != "" || v.Request.SignsIn {
		session.ExpiresAt = v.Now.Add(cmp.Or(a.deps.SessionTTL, sessionTTLWithoutServer))
	}
	return []schemas.Change{schemas.StartSession{Session: session, At: v.Now}}
}

// grant grants the authorization request to the browser in which the run ends; the store checks
// that it is the browser of the request. The client gets one of the requested classes if the
// sign-in satisfies it; the session keeps the actual class.
func grant(v *engine.Visit, s schemas.Assertion) schemas.GrantAuthRequest {
	acr, amr := schemas.AnsweredACR(s.ACR, v.Login.ACRValues), s.AMR
	since := v.Authentication.Since(acr)
	if acr != s.ACR {
		amr = schemas.MethodsSince(v.Authentication.Proofs, since)
	}
	return schemas.GrantAuthRequest{ID: v.AuthRequestID, BrowserHash: v.Request.Browser, At: v.Now, Grant: schemas.Grant{
		UserID: s.Subject, SessionID: s.Session, AuthTime: since, AMR: amr, Consented: true, Generation: s.Generation,
		ACR: acr,
	}}
}

// signedInEvent records the sign-in, and whether it only continued a session or was the user's first
// of its class in this browser.
func (a *authorizationCode) signedInEvent(ctx context.Context, v *engine.Visit, s schemas.Assertion) schemas.RecordEvent {
	detail := map[string]string{"acr": s.ACR}
	if s.Session != "" {
		detail["sessionId"] = s.Session
	}
	switch {
	case v.Authentication.Session != "":
		detail["bySession"] = "true"
	case a.deps.KnowsBrowser != nil && !a.deps.KnowsBrowser(ctx, s.Subject, cmp.Or(s.ACR, schemas.ACRVouched), v.Now):
		detail[schemas.NewBrowser] = "true"
	}
	return event(v, "user.signed_in", s.Subject, detail)
}

// allowsUserType reports whether users of this type may sign in to the application.
func allowsUserType(app *schemas.Application, user *schemas.User) bool {
	return app.Admits(user.Type, user.IdentifierScope)
}

func (a *authorizationCode) statement(v *engine.Visit, user *schemas.User, permissions []string) schemas.Assertion {
	s := schemas.Assertion{
		Subject:     user.ID,
		Validity:    a.deps.Asserter.AssertionTTL(),
		AuthTime:    v.Authentication.Time,
		AMR:         v.Authentication.Methods,
		ACR:         v.Authentication.ACR,
		Permissions: permissions,
		UserType:    user.Type,
		OUID:        user.OUID,
		AuthRequest: v.AuthRequestID,
	}
	var attributes []string
	if app := v.Application; app != nil {
		s.Audience = append(s.Audience, app.ID)
		s.Generation = app.TokenGeneration
		s.Validity = cmp.Or(time.Duration(app.Assertion.ValidityPeriod)*time.Second, s.Validity)
		attributes = app.Assertion.UserAttributes
	}
	s.Audience = append(s.Audience, a.deps.BaseURL)
	s.Profile = user.Profile(attributes, a.deps.ReleasesUnverified != nil && a.deps.ReleasesUnverified() && v.Application.TakesUnverified())
	return s
}
