package nodes

import (
	"context"
	"slices"

	"cel.dev/cel-go/cel"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/expr"
	"github.com/postern-id/postern/schemas"
)

// expressionReader is a node with expressions. It provides their variables.
type expressionReader struct {
	node
	id          string
	expressions []*expression
	inputs      map[string]schemas.InputType
	replies     map[string]map[string]engine.ReplyType
}

// environment returns the environment for compiling the expressions of the node.
func (x *expressionReader) environment(c *engine.Config) *cel.Env {
	flow := c.Collected()
	x.id, x.inputs, x.replies = c.Node.ID, flow.Inputs, flow.Replies
	return x.deps.expressions.with(c)
}

// add adds an expression at a path of the configuration, and returns the problems of its faults.
func (x *expressionReader) add(c *engine.Config, e *expression, faults []fault, path string) (found []schemas.Problem) {
	x.expressions = append(x.expressions, e)
	for _, need := range e.needs() {
		need.Path = schemas.JoinPath("with", path)
		x.needs = append(x.needs, need)
	}
	for _, f := range append(faults, e.checkInputs(c)...) {
		found = append(found, f.problem(path, e.text))
	}
	return found
}

// read reports whether any expression reads a member of user, or user as a whole.
func (x *expressionReader) read(members ...string) bool {
	return slices.ContainsFunc(x.expressions, func(e *expression) bool {
		return slices.ContainsFunc(append(members, wholeUser), func(m string) bool { return e.members[m] })
	})
}

// values returns the variables of the expressions. It fetches only what an expression uses.
func (x *expressionReader) values(ctx context.Context, v *engine.Visit) (map[string]any, error) {
	inputs := make(map[string]string, len(v.Inputs))
	for identifier, value := range v.Inputs {
		if !x.inputs[identifier].Secret() { // expressions must not read these
			inputs[identifier] = value
		}
	}
	values := map[string]any{"inputs": inputs, "application": applicationView{}}
	x.addReplies(values, v)
	if app := v.Application; app != nil {
		values["application"] = applicationView{ID: app.ID, Name: app.Name, OUID: app.OUID, ClientID: app.ClientID}
	}
	request, err := x.request(ctx, v)
	if err != nil {
		return nil, err
	}
	user, err := x.user(ctx, v)
	if err != nil {
		return nil, err
	}
	values["request"], values["user"] = *request, *user
	return values, nil
}

// addReplies adds the values of replies with the types of the type check.
func (x *expressionReader) addReplies(values map[string]any, v *engine.Visit) {
	for name, reply := range v.Replies {
		for member, value := range reply {
			if number, is := value.(float64); is && x.replies[name][member] == engine.IntegerReply {
				value = int64(number)
			}
			values[schemas.ReplyVariable(name, member)] = value
		}
	}
}

// request returns the client's request, with what the authorization request asks for.
func (x *expressionReader) request(ctx context.Context, v *engine.Visit) (*requestView, error) {
	view := &requestView{Origin: v.Request.Origin, Language: v.Request.Language, ACRValues: v.Login.ACRValues}
	reads := slices.ContainsFunc(x.expressions, func(e *expression) bool { return e.scopes })
	if !reads || v.AuthRequestID == "" {
		return view, nil
	}
	asked, err := x.deps.authRequest(ctx, v)
	if err != nil {
		return nil, err
	}
	view.Scopes = asked.Scopes
	return view, nil
}

// newUserView returns the values of a user who has nothing.
func newUserView() *userView {
	return &userView{Attributes: expr.ViewAttributes(nil), Permissions: expr.ViewPermissions(nil)}
}

// user returns the run's user as far as the expressions use it. Without a user, isNew and
// isAuthenticated are false, and no expression reads more.
func (x *expressionReader) user(ctx context.Context, v *engine.Visit) (*userView, error) {
	view := newUserView()
	view.IsNew, view.IsAuthenticated = v.Facts.Has(engine.New), v.Authentication != nil
	certain := slices.ContainsFunc(x.expressions, func(e *expression) bool { return e.user != nil })
	if !x.readsStored() || !certain && !v.Subject.Known() {
		return view, nil
	}
	u, err := x.deps.subjectUser(ctx, v)
	if err != nil {
		return nil, err
	}
	if v.Authentication != nil {
		view.Methods = v.Authentication.Methods
	}
	view.ID, view.Type, view.OUID, view.Attributes = u.ID, u.Type, u.OUID, expr.ViewAttributes(u.Attributes)
	for member, load := range userLoads() {
		if !x.read(member) {
			continue
		}
		if err := load(ctx, x.deps, v, view); err != nil {
			return nil, err
		}
	}
	return view, nil
}

// readsStored reports whether any expression reads more of user than the run itself knows.
func (x *expressionReader) readsStored() bool {
	return slices.ContainsFunc(x.expressions, func(e *expression) bool {
		for member := range e.members {
			if member != "isNew" && member != "isAuthenticated" {
				return true
			}
		}
		return false
	})
}
