package bootstrap

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/schemas"
)

// Admin is the first administrator. Without a password one is made up; without
// a name it is "admin".
type Admin struct {
	Username, Password string
}

func (a Admin) username() string {
	if a.Username == "" {
		return "admin"
	}
	return a.Username
}

// check refuses a name that cannot be a username, and a password that the policy
// refuses. Its errors name the environment variables that both come from.
func (a Admin) check(policy password.Policy) error {
	if fault := schemas.CheckIdentifier("username", a.username()); fault != "" {
		return fmt.Errorf("ADMIN_USERNAME %q cannot be a username: %s", a.username(), fault)
	}
	if a.Password == "" {
		return nil // one is generated
	}
	user := &schemas.User{Attributes: map[string]any{"username": a.username()}}
	if fault := policy.Check(password.Choice{Password: a.Password, User: user}); fault != "" {
		return fmt.Errorf("ADMIN_PASSWORD is not accepted, and nothing was created. %s", fault)
	}
	return nil
}

// checkChosen is check for where no password is made up: it could be lost with
// whoever is interrupted after that.
func (a Admin) checkChosen(policy password.Policy) error {
	if a.Password == "" {
		return errors.New("the server stands open, and there is no administrator yet: set ADMIN_PASSWORD (and ADMIN_USERNAME) to make one")
	}
	return a.check(policy)
}

// find returns the user of the administrator's name; nil if there is none.
func (s *seeder) find(ctx context.Context, a Admin) (*declare.Entry, error) {
	users, _ := declare.NounOf("users")
	list, err := s.target.List(ctx, users, a.username())
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// create makes the administrator's user, who may do nothing yet.
func (s *seeder) create(ctx context.Context, a Admin) (id string, err error) {
	user := newResource("users", "", map[string]any{
		"type": schemas.Person().Name, "ouId": DefaultUnitID,
		"attributes": map[string]any{"username": a.username(), "password": a.Password},
	})
	e, err := s.target.Create(ctx, user.Noun, user.Document)
	if err != nil {
		return "", fmt.Errorf("the administrator %q cannot be made: %w", a.username(), err)
	}
	s.changes++
	s.report("created user %q", a.username())
	return e.ID, nil
}

// withPassword is the administrator with a password, which may be made up, and
// how they can be told of: with a password only if it was.
func (a Admin) withPassword() (complete, reported Admin) {
	complete = Admin{a.username(), a.Password}
	reported = Admin{Username: complete.Username}
	if complete.Password == "" {
		complete.Password = rand.Text()
		reported.Password = complete.Password
	}
	return complete, reported
}
