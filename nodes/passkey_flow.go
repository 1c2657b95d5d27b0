package nodes

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Console returns the application with which administrators manage the server, and the published
// version of its sign-in flow; nil if there is none.
type Console func(context.Context) (*schemas.Application, *engine.Graph, error)

// PasskeyFlow returns the flow of POST /auth/passkey/finish, which ends with the first answer: any
// passkey signs its user in, to no application. See docs/semantics.md.
//
// The permissions of the user are granted to a page of this server only: any other might be one to
// which an attacker led the user. That page is part of the console, so the console must accept the
// sign-in as one of its own: of a user of its types, by its published flow.
func PasskeyFlow(d Deps, console Console) *engine.Graph {
	end := *authorizationCodeKind(d).Kind
	end.New = func(*engine.Config) (engine.Executor, []schemas.Problem) {
		return &authorizationCode{node: node{deps: d}, unbound: d.permissionsBy(console)}, nil
	}
	passkeys := passkeyAuthenticateKind(d)
	graph, problems := engine.Compile(&schemas.Flow{
		Handle: "passkey-api", Name: "POST /auth/passkey/finish", FlowType: schemas.Authentication,
		Nodes: []schemas.Node{
			{ID: "passkey", Use: passkeys.Name, Next: schemas.Next{To: "done"}},
			{ID: "done", Use: end.Name},
		},
	}, engine.Kinds{passkeys.Name: passkeys.Kind, end.Name: &end})
	if graph == nil {
		panic(fmt.Sprint("nodes: the flow of the passkey API: ", problems)) // it is a constant
	}
	return graph
}

// permissionsBy returns the rule for the permissions of a user who signed in with nothing but a
// passkey, to no application.
func (d Deps) permissionsBy(console Console) func(context.Context, *engine.Visit, *schemas.User) ([]string, error) {
	return func(ctx context.Context, v *engine.Visit, user *schemas.User) ([]string, error) {
		if v.Request.Origin == "" || v.Request.Origin != originOf(d.BaseURL) {
			return nil, nil
		}
		has, err := d.Store.Permissions(ctx, user.ID)
		if err != nil || len(has) == 0 {
			return nil, err
		}
		app, flow, err := console(ctx)
		if err != nil || app == nil || flow == nil {
			return nil, err
		}
		if !allowsUserType(app, user) || app.AsksConsent() || !flow.SignsInBy(engine.Passkey, v.Authentication) {
			return nil, nil
		}
		return d.registeredPermissions(ctx, app, has)
	}
}
