package flowtest

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// CheckUser checks a user of the type Person; users of other types can have any
// attributes.
func (m *Memory) CheckUser(_ context.Context, u *schemas.User) error {
	if u.Type != schemas.PersonName {
		return nil
	}
	t, err := person()
	if err != nil {
		return err
	}
	text, err := json.Marshal(u.Attributes)
	if err != nil {
		return err
	}
	if problems := t.Check(text, false); len(problems) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeUserDoesNotFit,
			"the user does not fit the type %s: %s", u.Type, problems[0]).WithProblems(problems)
	}
	return nil
}

// UserType returns the type Person, or a type that accepts any attributes.
func (m *Memory) UserType(_ context.Context, name string) (*schemas.UserType, error) {
	if name != schemas.PersonName {
		return &schemas.UserType{Name: name, Schema: json.RawMessage(`{"type": "object"}`)}, nil
	}
	t := schemas.Person()
	return &t, nil
}

// find returns the user that one of the attributes identifies by the value. It compares
// normalized values.
func (m *Memory) find(value string, attributes ...string) *schemas.User {
	key := schemas.IdentifierKey(value)
	for _, u := range m.users {
		for _, attribute := range attributes {
			if text := u.Identifier(attribute); text != "" && schemas.IdentifierKey(text) == key {
				return &u
			}
		}
	}
	return nil
}

// credential returns the index of the passkey with the ID, or -1.
func (m *Memory) credential(id schemas.Bytes) int {
	return slices.IndexFunc(m.credentials, func(c schemas.Credential) bool { return bytes.Equal(c.ID, id) })
}

// User returns a user by ID.
func (m *Memory) User(_ context.Context, id string) (*schemas.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u, ok := m.users[id]; ok {
		return &u, nil
	}
	return nil, notFound(schemas.CodeUserNotFound, "user", id)
}

// UserByAttribute returns a user by an identifying attribute. In scenarios all user types
// share the global identifier scope.
func (m *Memory) UserByAttribute(_ context.Context, _, attribute, value string) (*schemas.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u := m.find(value, attribute); u != nil {
		return u, nil
	}
	return nil, notFound(schemas.CodeUserNotFound, "user with the "+attribute, value)
}

// PasswordHash returns the hash of the user's password, "" if the user has none, and the
// ID of the password.
func (m *Memory) PasswordHash(_ context.Context, userID string) (hash, id string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.passwords[userID]
	return p.Hash, p.ID, nil
}

// Credentials returns the user's passkeys, oldest first.
func (m *Memory) Credentials(_ context.Context, userID string) ([]schemas.Credential, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []schemas.Credential
	for _, c := range m.credentials {
		if c.UserID == userID {
			list = append(list, c)
		}
	}
	return list, nil
}

// Credential returns a passkey by its ID, for any user.
func (m *Memory) Credential(_ context.Context, id schemas.Bytes) (*schemas.Credential, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.credential(id); i >= 0 {
		c := m.credentials[i]
		return &c, nil
	}
	return nil, notFound(schemas.CodeCredentialNotFound, "passkey", id.String())
}

// Permissions returns the user's permissions.
func (m *Memory) Permissions(_ context.Context, userID string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.permissions[userID], nil
}
