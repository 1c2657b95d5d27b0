package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func authorizationCodeKind(d Deps) *engine.Kind {
	return &engine.Kind{
		Name: "authorization-code",
		Doc:  "Ends the run with an assertion: a signed statement of who the user is and how they authenticated.",
		Needs: []engine.Need{{
			AnyOf: []engine.Fact{engine.Authenticated},
			Rule:  engine.RuleUnauthenticated,
			Why:   "it would vouch for somebody who proved nothing",
			Mend:  "put a node that authenticates, such as passkey-authenticate, on every path before it",
		}},
		Terminal: true,
		New: func(*engine.Config) (engine.Executor, []schemas.Problem) {
			return &authorizationCode{d}, nil
		},
	}
}

type authorizationCode struct{ deps Deps }

// Execute signs the assertion and starts the session it belongs to: if the step
// is not committed there is no session, and the assertion is worthless.
func (a *authorizationCode) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Authentication == nil {
		return nil, errors.New("the run came here unauthenticated; the check of the flow should have refused it")
	}
	user, err := subjectUser(ctx, a.deps.Users, v)
	if err != nil {
		return nil, err
	}
	if app := v.Application; app != nil && len(app.AllowedUserTypes) > 0 && !slices.Contains(app.AllowedUserTypes, user.Type) {
		return &engine.Decision{Fail: schemas.Errorf(schemas.Forbidden, schemas.CodeUserTypeNotAllowed,
			"users of type %q may not sign in to application %q; sign in to another, or ask its administrator", user.Type, app.Name)}, nil
	}
	var permissions []string
	if v.Subject.Draft == nil { // a user who is not stored yet has none
		if permissions, err = a.deps.Permissions.Permissions(ctx, user.ID); err != nil {
			return nil, err
		}
	}
	statement := a.statement(v, user, permissions)
	session := statement.StartSession(applicationID(v), v.Request.UserAgent, v.Now)
	assertion, err := a.deps.Asserter.Assert(ctx, statement)
	if err != nil {
		return nil, fmt.Errorf("sign the assertion: %w", err)
	}
	return &engine.Decision{
		Result: &engine.Result{Assertion: assertion},
		Changes: []schemas.Change{
			schemas.StartSession{Session: session},
			event(v, "user.signed_in", user.ID, map[string]string{"acr": v.Authentication.ACR, "sessionId": session.ID}),
		},
	}, nil
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
	}
	var attributes []string
	if app := v.Application; app != nil {
		s.Audience = append(s.Audience, app.ID)
		s.Validity = cmp.Or(time.Duration(app.Assertion.ValidityPeriod)*time.Second, s.Validity)
		attributes = app.Assertion.UserAttributes
	}
	s.Audience = append(s.Audience, a.deps.BaseURL)
	s.Profile = user.Profile(attributes)
	return s
}
