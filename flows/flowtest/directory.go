package flowtest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// userType is a user type with its compiled schema.
type userType struct {
	schemas.UserType
	compiled *schemas.CompiledUserType
}

// addUserTypes compiles the user types of the flow's folder, and the built-in type Person unless the
// folder defines it.
func (w *environment) addUserTypes(list []schemas.UserType) error {
	for _, t := range slices.Concat([]schemas.UserType{schemas.Person()}, list) {
		compiled, err := schemas.CompileUserType(&t)
		if err != nil {
			return err
		}
		w.types[t.Name] = &userType{t, compiled}
	}
	return nil
}

// CheckUser checks a user against their type; users of unknown types can have any attributes.
func (w *environment) CheckUser(_ context.Context, u *schemas.User) error {
	t := w.types[u.Type]
	if t == nil {
		return nil
	}
	text, err := json.Marshal(u.Attributes)
	if err != nil {
		return err
	}
	if problems := t.compiled.Check(text, false); len(problems) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeUserDoesNotFit,
			"the user does not fit the type %s: %s", u.Type, problems[0]).WithProblems(problems)
	}
	return nil
}

// UserType returns the type of a name, or a type that accepts any attributes.
func (w *environment) UserType(_ context.Context, name string) (*schemas.UserType, error) {
	if t := w.types[name]; t != nil {
		return &t.UserType, nil
	}
	return &schemas.UserType{Name: name, Schema: json.RawMessage(`{"type": "object"}`)}, nil
}

// Permissions returns the permissions that the file gives the user.
func (w *environment) Permissions(_ context.Context, userID string) ([]string, error) {
	return w.file.Users[w.nameOf(userID)].Permissions, nil
}

// Protection returns what protects the account of the user.
func (w *environment) Protection(ctx context.Context, userID string) (p schemas.Protection, err error) {
	keys, _ := w.Credentials(ctx, userID)
	app, _ := w.TOTP(ctx, userID)
	codes, _ := w.RecoveryCodes(ctx, userID)
	p.Administrator = slices.ContainsFunc(w.file.Users[w.nameOf(userID)].Permissions, schemas.IsAdministrative)
	p.HadPasskey = slices.ContainsFunc(keys, func(key schemas.Credential) bool { return key.AddedBy.CountsInFull() })
	p.UnusedApp = app != nil && app.LastUsedAt == nil
	p.SecondFactor = app != nil || codes != nil && codes.Left > 0
	return p, nil
}

// GroupNames returns the groups that the file gives the user.
func (w *environment) GroupNames(_ context.Context, userID string) ([]string, error) {
	return w.file.Users[w.nameOf(userID)].Groups, nil
}

// RoleNames returns the roles that the file gives the user.
func (w *environment) RoleNames(_ context.Context, userID string) ([]string, error) {
	return w.file.Users[w.nameOf(userID)].Roles, nil
}

// ClaimFacts returns the groups and roles that the file gives the user.
func (w *environment) ClaimFacts(_ context.Context, id string) (*schemas.ClaimFacts, error) {
	of, facts := w.file.Users[w.nameOf(id)], &schemas.ClaimFacts{}
	for _, name := range of.Groups {
		facts.Groups = append(facts.Groups, schemas.ClaimGroup{ID: name, Name: name, Direct: true})
	}
	for _, name := range of.Roles {
		facts.Roles = append(facts.Roles, schemas.ClaimRole{ID: name, Name: name})
	}
	return facts, nil
}

// ServerClaims returns none: scenarios have no resource servers.
func (*environment) ServerClaims(context.Context, []string) ([]schemas.ResourceServer, error) {
	return nil, nil
}

// IdentityScopes returns the standard scopes, and those that the client declares.
func (w *environment) IdentityScopes(_ context.Context, o *schemas.OAuthProfile) ([]string, error) {
	return append(schemas.IdentityScopes(), o.OwnScopes()...), nil
}

// recognizesBrowser reports whether the user of the file has signed in with the browser before, and
// proved as much as a strength.
func (w *environment) recognizesBrowser(_ context.Context, userID, strength string, _ time.Time) bool {
	return w.scenario.KnownBrowser.satisfies(strength) && !w.elsewhere && w.nameOf(userID) != userID
}

// nameOf returns the name of a user in the file, or the ID of another user.
func (w *environment) nameOf(id string) string {
	for name := range w.file.Users {
		if userID(name) == id {
			return name
		}
	}
	return id
}

// ScopeNames displays each permission by its own name.
func (w *environment) ScopeNames(_ context.Context, scopes []string) (map[string]string, error) {
	names := map[string]string{}
	for _, scope := range scopes {
		names[scope] = cmp.Or(schemas.PlainScopes()[scope], scope)
	}
	return names, nil
}

// RegisteredScopes returns the scopes for which the application is registered.
func (w *environment) RegisteredScopes(context.Context, string) ([]string, error) {
	if w.app.OAuth() == nil {
		return nil, nil
	}
	return w.app.OAuth().Scopes, nil
}

// Application returns the application of the scenario, whatever the ID.
func (w *environment) Application(context.Context, string) (*schemas.Application, error) {
	return &w.app, nil
}

// Client returns the application of the scenario, whatever the ID.
func (w *environment) Client(context.Context, string) (*schemas.Application, error) {
	return &w.app, nil
}

// Graph returns the flow under test, whatever the ID.
func (w *environment) Graph(context.Context, string, int) (*engine.Graph, error) { return w.graph, nil }
