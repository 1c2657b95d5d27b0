package directory

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// CheckUser checks a user that a flow is to create against the user type. If it does not
// fit, the error has Class Invalid, code user_does_not_fit. The path of each problem is the
// name of an attribute, or "" if the flow is wrong and not the user's input. A user without
// a unit is placed in the default one.
//
// A missing required password is no problem: flows set it later.
func (d *Directory) CheckUser(ctx context.Context, u *schemas.User) error {
	problems, err := d.userProblems(ctx, u)
	if err != nil || len(problems) == 0 {
		return err
	}
	return schemas.Errorf(schemas.Invalid, schemas.CodeUserDoesNotFit,
		"the account would not fit the user type %.64q: %s", u.Type, problems[0]).WithProblems(problems)
}

// UserType returns the user type with the name; for an unknown name the error is
// user_does_not_fit, Class Invalid.
func (d *Directory) UserType(ctx context.Context, name string) (*schemas.UserType, error) {
	t, err := store.UserTypes().Find(ctx, d.store, "name", name)
	if err == nil && t == nil {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeUserDoesNotFit, "there is no user type %.64q; change the user's type", name)
	}
	return t, err
}

func (d *Directory) userProblems(ctx context.Context, u *schemas.User) ([]schemas.Problem, error) {
	t, err := store.UserTypes().Find(ctx, d.store, "name", u.Type)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return []schemas.Problem{{Message: "there is no such user type; name another one in the flow or in the application"}}, nil
	}
	if problems, err := d.placeUser(ctx, u); len(problems) > 0 || err != nil {
		return problems, err
	}
	compiled, err := d.compileType(t)
	if err != nil {
		return nil, err
	}
	if u.Attributes == nil {
		u.Attributes = map[string]any{}
	}
	text, err := json.Marshal(u.Attributes)
	if err != nil {
		return nil, err
	}
	problems := compiled.Check(text, false)
	if len(problems) > 0 {
		return problems, nil
	}
	return d.takenAttributes(ctx, u, compiled)
}

// takenAttributes finds unique attributes that another user has. The flow itself checks
// those that identify users.
func (d *Directory) takenAttributes(ctx context.Context, u *schemas.User, t *schemas.CompiledUserType) (problems []schemas.Problem, err error) {
	unique := slices.DeleteFunc(t.UniqueAttributes(), func(attribute string) bool {
		return slices.Contains(schemas.IdentifyingAttributes(), attribute)
	})
	if len(unique) == 0 {
		return nil, nil
	}
	taken, err := store.TakenAttributes(ctx, d.store, u, unique)
	for _, attribute := range taken {
		problems = append(problems, schemas.Problem{Path: schemas.MemberPath("", attribute), Message: "another user has this value; choose a different one"})
	}
	return problems, err
}

// placeUser sets the default unit or checks that the user's unit exists.
func (d *Directory) placeUser(ctx context.Context, u *schemas.User) ([]schemas.Problem, error) {
	if u.OUID == "" {
		unit, err := store.Units().Find(ctx, d.store, "handle", DefaultUnit)
		if err == nil && unit != nil {
			u.OUID = unit.ID
		}
		return nil, err
	}
	_, err := store.Units().Get(ctx, d.store, u.OUID)
	if schemas.HasClass(err, schemas.NotFound) {
		return []schemas.Problem{{Message: "there is no organization unit with the id that the flow or the application names"}}, nil
	}
	return nil, err
}
