package flowtest

import (
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

func isUser(id string) func(schemas.User) bool {
	return func(u schemas.User) bool { return u.ID == id }
}

// identifies returns the condition that one of the attributes identifies a user by the
// value. It compares normalized values.
func identifies(value string, attributes ...string) func(schemas.User) bool {
	key := schemas.IdentifierKey(value)
	return func(u schemas.User) bool {
		return slices.ContainsFunc(attributes, func(attribute string) bool {
			text := u.Identifier(attribute)
			return text != "" && schemas.IdentifierKey(text) == key
		})
	}
}

// User returns a user by ID.
func (m *Memory) User(_ context.Context, id string) (*schemas.User, error) {
	return m.records().user(id)
}

// UserByAttribute returns a user by an identifying attribute. In scenarios all user types
// share the global identifier scope.
func (m *Memory) UserByAttribute(_ context.Context, _, attribute, value string) (*schemas.User, error) {
	return require(m.records(), identifies(value, attribute), schemas.CodeUserNotFound, "user with the "+attribute, value)
}

func (r records) user(id string) (*schemas.User, error) {
	return require(r, isUser(id), schemas.CodeUserNotFound, "user", id)
}

// requireActive rejects a user who may not sign in at that time.
func (r records) requireActive(userID string, at time.Time) error {
	if u := find(r, isUser(userID)); u != nil {
		if inactive := u.CheckActive(at); inactive != nil {
			return inactive
		}
	}
	return nil
}

func (r *records) createUser(u schemas.User) error {
	if unfit := u.CheckIdentifiers(); len(unfit) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the %s is not usable", unfit[0].Path).WithProblems(unfit)
	}
	var taken []schemas.Problem
	for _, attribute := range schemas.IdentifyingAttributes() {
		if value := u.Text(attribute); value != "" && find(*r, identifies(value, schemas.IdentifyingAttributes()...)) != nil {
			taken = append(taken, schemas.Problem{Path: attribute, Message: "is taken"})
		}
	}
	if len(taken) > 0 {
		return schemas.Errorf(schemas.Conflict, schemas.CodeAttributeTaken, "the %s is taken", taken[0].Path).WithProblems(taken)
	}
	r.loseEmail(u)
	*r = append(*r, u)
	return nil
}

// updateUser changes attributes of a user.
func (r *records) updateUser(c schemas.UpdateUser) error {
	before, err := r.user(c.UserID)
	if err != nil {
		return err
	}
	u := *before.With(c.Attributes)
	if !c.At.After(u.UpdatedAt) {
		c.At = u.UpdatedAt.Add(1)
	}
	u.UpdatedAt = c.At
	remove(r, isUser(u.ID)) // the user's own values are not conflicts
	return r.createUser(u)
}

// verifyEmail marks the address as verified, which removes it from other users: see
// createUser.
func (r *records) verifyEmail(c schemas.VerifyEmail) error {
	u := find(*r, isUser(c.UserID))
	if u == nil || schemas.IdentifierKey(u.Text("email")) != schemas.IdentifierKey(c.Email) {
		return schemas.Errorf(schemas.Conflict, schemas.CodeInvalidCode, "the user does not have the address any more")
	}
	if u.Verified(schemas.EmailVerified) {
		return nil
	}
	return r.updateUser(schemas.UpdateUser{UserID: u.ID, Attributes: map[string]any{schemas.EmailVerified: true}, At: c.At})
}

// loseEmail removes the address that identifies a user from all other users.
func (r *records) loseEmail(owner schemas.User) {
	for _, attribute := range schemas.IdentifyingAttributes() {
		key := schemas.IdentifierKey(owner.Identifier(attribute))
		for _, u := range all[schemas.User](*r) {
			if key != "" && u.ID != owner.ID && schemas.IdentifierKey(u.Text("email")) == key {
				put(r, *u.WithoutEmail(), isUser(u.ID))
				*r = append(*r, schemas.Event{At: owner.UpdatedAt, Action: "email.lost", UserID: u.ID, Detail: map[string]string{"owner": owner.ID}})
			}
		}
	}
}
