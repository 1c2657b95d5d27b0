package flowtest

import (
	"context"
	"encoding/hex"
	"maps"

	"github.com/postern-id/postern/schemas"
)

// recovery is the set of a user's recovery codes.
type recovery struct {
	given schemas.SetRecoveryCodes
	left  map[string]bool // by hash, in hex
}

// TOTP returns the user's authenticator app, nil if the user has none.
func (m *Memory) TOTP(_ context.Context, userID string) (*schemas.TOTP, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if app, ok := m.totps[userID]; ok {
		return &app, nil
	}
	return nil, nil
}

// HasRecoveryCode reports whether the user has an unused recovery code with the hash.
func (m *Memory) HasRecoveryCode(_ context.Context, userID string, hash []byte) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recovery[userID].left[hex.EncodeToString(hash)], nil
}

// RecoveryCodes returns how many recovery codes the user has, nil if none were issued.
func (m *Memory) RecoveryCodes(_ context.Context, userID string) (*schemas.RecoveryCodes, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.recovery[userID]
	if !ok {
		return nil, nil
	}
	return &schemas.RecoveryCodes{Total: len(r.given.Hashes), Left: len(r.left), CreatedAt: r.given.At}, nil
}

func (m *Memory) changeFactor(change schemas.Change) error {
	switch c := change.(type) {
	case schemas.SetTOTP:
		m.totps[c.TOTP.UserID] = c.TOTP
		return m.checkUserExists(c.TOTP.UserID)
	case schemas.UseTOTP:
		app, ok := m.totps[c.UserID]
		if !ok || c.Step <= app.LastStep {
			return errUsed()
		}
		app.LastStep, app.LastUsedAt = c.Step, &c.At
		m.totps[c.UserID] = app
	case schemas.DeleteTOTP:
		delete(m.totps, c.UserID)
	case schemas.SetRecoveryCodes:
		r := recovery{given: c, left: map[string]bool{}}
		for _, hash := range c.Hashes {
			r.left[hex.EncodeToString(hash)] = true
		}
		m.recovery[c.UserID] = r
		return m.checkUserExists(c.UserID)
	case schemas.UseRecoveryCode:
		r, hash := m.recovery[c.UserID], hex.EncodeToString(c.Hash)
		if !r.left[hash] {
			return errUsed()
		}
		r.left = maps.Clone(r.left)
		delete(r.left, hash)
		m.recovery[c.UserID] = r
	case schemas.DeleteRecoveryCodes:
		delete(m.recovery, c.UserID)
	}
	return nil
}

// checkUserExists returns an error if there is no such user.
func (m *Memory) checkUserExists(userID string) error {
	if _, ok := m.users[userID]; !ok {
		return notFound(schemas.CodeUserNotFound, "user", userID)
	}
	return nil
}

func errUsed() error {
	return schemas.Errorf(schemas.Conflict, schemas.CodeUsed, "the code has been used")
}

// updateUser changes attributes of a user.
func (m *Memory) updateUser(c schemas.UpdateUser) error {
	u, ok := m.users[c.UserID]
	if !ok {
		return notFound(schemas.CodeUserNotFound, "user", c.UserID)
	}
	u = *u.With(c.Attributes)
	if !c.At.After(u.UpdatedAt) {
		c.At = u.UpdatedAt.Add(1)
	}
	u.UpdatedAt = c.At
	delete(m.users, u.ID) // the user's own values are not conflicts
	return m.createUser(u)
}
