package bootstrap

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/schemas"
)

// Admin is the first administrator. The default name is "admin"; the default password is
// generated.
type Admin struct {
	Username, Password string
}

func (a Admin) username() string {
	return cmp.Or(a.Username, "admin")
}

// check refuses an invalid username and a password that the policy refuses. Its errors name
// the environment variables of both.
func (a Admin) check(policy password.Policy) error {
	if fault := schemas.CheckIdentifier("username", a.username()); fault != "" {
		return fmt.Errorf("ADMIN_USERNAME %q cannot be a username: %s", a.username(), fault)
	}
	if a.Password == "" {
		return nil // one is generated
	}
	user := &schemas.User{Attributes: map[string]any{"username": a.username()}}
	if fault := policy.Check(password.Choice{Password: a.Password, User: user}); fault != "" {
		return fmt.Errorf("ADMIN_PASSWORD is not accepted, and no user was created. %s", fault)
	}
	return nil
}

// checkChosen is check where no password may be generated: an interruption could lose it.
func (a Admin) checkChosen(policy password.Policy) error {
	if a.Password == "" {
		return errors.New("the server accepts unauthenticated requests and has no administrator: set ADMIN_PASSWORD (and ADMIN_USERNAME) to create one")
	}
	return a.check(policy)
}

// find returns the user with the administrator's name; nil if there is none.
func (s *seeder) find(ctx context.Context, a Admin) (*declare.Entry, error) {
	users, _ := declare.NounOf("users")
	list, err := s.target.List(ctx, users, a.username())
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// create creates the administrator's user, still without permissions.
func (s *seeder) create(ctx context.Context, a Admin) (id string, err error) {
	user := newResource("users", "", map[string]any{
		"type": schemas.Person().Name, "ouId": DefaultUnitID,
		"attributes": map[string]any{"username": a.username(), "password": a.Password},
	})
	e, err := s.target.Create(ctx, user.Noun, user.Document)
	if err != nil {
		return "", fmt.Errorf("the administrator %q cannot be created: %w", a.username(), err)
	}
	s.changes++
	s.report("created user %q", a.username())
	return e.ID, nil
}

// withPassword returns the administrator with a password, generated if necessary, and what
// to report: the password only if it was generated.
func (a Admin) withPassword() (complete, reported Admin) {
	complete = Admin{a.username(), a.Password}
	reported = Admin{Username: complete.Username}
	if complete.Password == "" {
		complete.Password = rand.Text()
		reported.Password = complete.Password
	}
	return complete, reported
}
