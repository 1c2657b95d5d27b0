package directory

import (
	"context"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// chainGuard refuses a transaction that opens a new way to sign in as another user: a chain of
// runs that reaches tokens of an application with less than was needed before. One guard covers
// the whole transaction.
type chainGuard struct {
	begun  bool
	before *schemas.SignInSystem
}

// guardChains is called before the first write that may open a way.
func (d *Directory) guardChains(w *writeContext) {
	guard := w.call.chains
	if d.CheckChains == nil || guard == nil || guard.begun {
		return
	}
	guard.begun = true
	var err error
	guard.before, err = readSignInSystem(w.ctx, w.tx)
	w.fail(err)
}

// endChains refuses the transaction if it opened a way.
func (d *Directory) endChains(ctx context.Context, tx *store.Tx, guard *chainGuard) error {
	if !guard.begun {
		return nil
	}
	after, err := readSignInSystem(ctx, tx)
	if err != nil {
		return err
	}
	if opened := d.CheckChains(guard.before, after); len(opened) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeNewWay,
			"nothing was stored: after this change, an attacker would need less than before to get another user's tokens. Ask for more in the flow, "+
				"or let a user with the permission %q accept the change with a waiver of the rule chain that states the reason, at a node of the attack", systemPermission).
			WithProblems(opened)
	}
	return nil
}

// Chains returns the ways to sign in to the applications, a chains.Report. A system that is too
// large for the analysis is invalid_request.
func (d *Directory) Chains(ctx context.Context, c Call) (any, error) {
	system, err := d.SignInSystem(ctx, c)
	if err != nil {
		return nil, err
	}
	report, err := d.AnalyzeChains(system)
	if err != nil {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "%s", err)
	}
	return report, nil
}

// SignInSystem returns the applications and the flows that they can start.
func (d *Directory) SignInSystem(ctx context.Context, c Call) (*schemas.SignInSystem, error) {
	return readSignInSystem(ctx, d.reader(c))
}

func readSignInSystem(ctx context.Context, r store.Reader) (*schemas.SignInSystem, error) {
	s := &schemas.SignInSystem{Flows: map[string]*schemas.Flow{}}
	id := func(a *schemas.Application) string { return a.ID }
	err := forEach(ctx, r, store.Applications().List, store.Page{}, id, func(a *schemas.Application) error {
		app := schemas.SystemApplication{ID: a.ID, Name: a.Name, Account: managesAccounts(a), ManagesUsers: managesUsers(a)}
		for _, flowID := range startedFlows(a) {
			app.FlowIDs = append(app.FlowIDs, flowID)
			s.Flows[flowID] = nil
		}
		s.Applications = append(s.Applications, app)
		return nil
	})
	for flowID := range s.Flows {
		if err != nil {
			return nil, err
		}
		s.Flows[flowID], err = store.Flows().Get(ctx, r, flowID)
	}
	return s, err
}

// startedFlows lists the flows that an application can start.
func startedFlows(a *schemas.Application) (ids []string) {
	ids = append(ids, a.AuthFlowID)
	for _, f := range a.OptionalFlows() {
		ids = append(ids, *f.ID)
	}
	if a.IsRegistrationFlowEnabled {
		ids = append(ids, a.RegistrationFlowID)
	}
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

// managesUsers reports whether an application gets tokens without a user that can set passwords.
func managesUsers(a *schemas.Application) bool {
	return a.OAuth() != nil && slices.Contains(a.OAuth().GrantTypes, "client_credentials") &&
		slices.ContainsFunc(a.OAuth().Scopes, func(s string) bool {
			return s == systemPermission || schemas.CoversPermission(s, "system:users:write")
		})
}
