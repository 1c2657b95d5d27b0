package nodes

import (
	"context"
	"slices"

	"cel.dev/cel-go/cel"

	"github.com/postern-id/postern/engine"
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
	x.id, x.inputs, x.replies = c.Node.ID, c.Inputs, c.Replies
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
		found = append(found, f.problem(path))
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
	values := map[string]any{
		"inputs":      inputs,
		"request":     requestView{Origin: v.Request.Origin, Language: v.Request.Language},
		"application": applicationView{},
		"user":        userView{},
	}
	x.addReplies(values, v)
	if app := v.Application; app != nil {
		values["application"] = applicationView{ID: app.ID, Name: app.Name, OUID: app.OUID, ClientID: app.ClientID}
	}
	user, err := x.user(ctx, v)
	if err != nil {
		return nil, err
	}
	values["user"] = *user
	return values, nil
}

// addReplies adds the values of replies with the types of the type check.
func (x *expressionReader) addReplies(values map[string]any, v *engine.Visit) {
	for name, reply := range v.Replies {
		for member, value := range reply {
			if number, is := value.(float64); is && x.replies[name][member] == engine.IntegerReply {
				value = int64(number)
			}
			values[replyVariable(name, member)] = value
		}
	}
}

// user returns the run's user as far as the expressions use it. Without a user, isNew and
// isAuthenticated are false, and no expression reads more.
func (x *expressionReader) user(ctx context.Context, v *engine.Visit) (*userView, error) {
	view := &userView{
		Attributes: viewAttributes(nil), IsNew: v.Facts.Has(engine.New), IsAuthenticated: v.Authentication != nil,
	}
	certain := slices.ContainsFunc(x.expressions, func(e *expression) bool { return e.user != nil })
	stored := x.read("id", "type", "ouId", "attributes", "hasPasskey", "hasPassword")
	if !stored || !certain && !v.Subject.Known() {
		return view, nil
	}
	u, err := x.deps.subjectUser(ctx, v)
	if err != nil {
		return nil, err
	}
	view.ID, view.Type, view.OUID, view.Attributes = u.ID, u.Type, u.OUID, viewAttributes(u.Attributes)
	return view, x.addCredentials(ctx, v, view)
}

// addCredentials adds whether the user has the credentials that expressions read.
func (x *expressionReader) addCredentials(ctx context.Context, v *engine.Visit, view *userView) error {
	if x.read("hasPasskey") {
		credentials, err := x.deps.passkeysOf(ctx, v, view.ID)
		if err != nil {
			return err
		}
		view.HasPasskey = len(credentials) > 0
	}
	if x.read("hasPassword") {
		password, err := x.deps.passwordOf(ctx, v, view.ID)
		if err != nil {
			return err
		}
		view.HasPassword = password.Hash != ""
	}
	return nil
}
