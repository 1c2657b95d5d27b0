package nodes

import (
	"context"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// expressionReader provides the variables of a node's expressions.
type expressionReader struct {
	deps        Deps
	expressions []*expression
	secret      map[string]bool // inputs that expressions must not read
	replies     map[string]map[string]engine.ReplyType
}

func newExpressionReader(c *engine.Config, d Deps) expressionReader {
	r := expressionReader{deps: d, secret: map[string]bool{}, replies: c.Replies}
	for identifier, t := range c.Inputs {
		r.secret[identifier] = t.Secret()
	}
	return r
}

// values returns the variables of the expressions. It fetches only what an expression uses.
func (x *expressionReader) values(ctx context.Context, v *engine.Visit) (map[string]any, error) {
	inputs := make(map[string]string, len(v.Inputs))
	for identifier, value := range v.Inputs {
		if !x.secret[identifier] {
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
	uses := x.uses()
	certain := slices.ContainsFunc(x.expressions, func(e *expression) bool { return e.user != nil })
	if !uses.user || !certain && !v.Subject.Known() {
		return view, nil
	}
	u, err := subjectUser(ctx, x.deps.Users, v)
	if err != nil {
		return nil, err
	}
	view.ID, view.Type, view.OUID, view.Attributes = u.ID, u.Type, u.OUID, viewAttributes(u.Attributes)
	return view, x.addCredentials(ctx, v, uses, u, view)
}

// addCredentials adds whether the user has the credentials that expressions use.
func (x *expressionReader) addCredentials(ctx context.Context, v *engine.Visit, uses usage, u *schemas.User, view *userView) error {
	if uses.passkey {
		credentials, err := passkeysOf(ctx, x.deps.Credentials, v, u.ID)
		if err != nil {
			return err
		}
		view.HasPasskey = len(credentials) > 0
	}
	if uses.password {
		hash, _, err := passwordOf(ctx, x.deps.Passwords, v, u.ID)
		if err != nil {
			return err
		}
		view.HasPassword = hash != ""
	}
	return nil
}

// uses returns what all expressions together need.
func (x *expressionReader) uses() (uses usage) {
	for _, e := range x.expressions {
		uses = uses.with(e.uses)
	}
	return uses
}
