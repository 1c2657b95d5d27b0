package store

import (
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Email addresses
//
// An unverified address identifies no user (schemas.User.Identifier), so several users may
// have it. The user who verifies it owns it from then on: the same transaction removes it from
// all others. The same applies to a username that is an address. user_emails has the addresses
// of all users; user_identifiers has those that identify.
//
// Two transactions that write one address conflict in user_identifiers: a write of an unverified
// address also inserts it there and removes it again. So the second waits for the first, and then
// finds that the address is taken, or finds the user who loses it. The rows of users are locked
// first, in the order of their ids: transactions that verify one address for different users wait
// for each other and do not deadlock.

const (
	deleteIdentifier = `DELETE FROM user_identifiers WHERE value = ? AND user_id = ?`

	selectTypeOfUser = `SELECT type FROM users WHERE id = ?`

	insertEmail = `INSERT INTO user_emails (value, user_id, address) VALUES (?, ?, ?)`

	selectEmailHolders = `SELECT user_id FROM user_emails WHERE value = ? AND user_id <> ? ORDER BY user_id`
)

// verifyEmail marks the address of a user as verified. The change requires that the user still
// has the address.
func (t *Tx) verifyEmail(c schemas.VerifyEmail) error {
	prefix, err := t.prefixOf(c.UserID)
	if err != nil {
		return err
	}
	if err := t.lockUsers(c.UserID, prefix+schemas.IdentifierKey(c.Email)); err != nil {
		return err
	}
	u, err := t.lockUser(c.UserID)
	if err != nil && !schemas.HasCode(err, schemas.CodeUserNotFound) {
		return err
	}
	if err != nil || schemas.IdentifierKey(u.Text("email")) != schemas.IdentifierKey(c.Email) {
		return schemas.Errorf(schemas.Conflict, schemas.CodeInvalidCode,
			"this account no longer has the address that the code was sent to; start again")
	}
	if u.Verified(schemas.EmailVerified) {
		return nil
	}
	return t.changeAttributes(schemas.UpdateUser{UserID: c.UserID, Attributes: map[string]any{schemas.EmailVerified: true}, At: c.At})
}

// lockEmailHolders locks the users who lose their address when u claims it.
func (t *Tx) lockEmailHolders(u *schemas.User, prefix string) error {
	for _, key := range addressesOf(u) {
		if err := t.lockUsers(u.ID, prefix+key); err != nil {
			return err
		}
	}
	return nil
}

// prefixOf returns the prefix of the values of a user, "" for an unknown user.
func (t *Tx) prefixOf(userID string) (string, error) {
	userType, err := readValue[string](t.ctx, t, selectTypeOfUser, userID)
	if err != nil {
		return "", err
	}
	rules, err := t.typeRules(userType)
	return rules.prefix, err
}

// addressesOf returns the keys that identify the user and may be addresses of others.
func addressesOf(u *schemas.User) (keys []string) {
	for _, attribute := range schemas.IdentifyingAttributes() {
		key := schemas.IdentifierKey(u.Identifier(attribute))
		if strings.Contains(key, "@") && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// lockUsers locks a user and all holders of the address, in the order of their IDs.
func (t *Tx) lockUsers(userID, key string) error {
	ids, err := t.emailHolders(key, userID)
	if err != nil {
		return err
	}
	ids = append(ids, userID)
	slices.Sort(ids)
	for _, id := range ids {
		if _, err := t.lockUser(id); err != nil && !schemas.HasCode(err, schemas.CodeUserNotFound) {
			return err
		}
	}
	return nil
}

// emailHolders returns the IDs of the users with the address, except one.
func (t *Tx) emailHolders(key, except string) ([]string, error) {
	return readAll(t.ctx, t, scanValue[string], selectEmailHolders, key, except)
}

// UsersLosingEmail returns the IDs of the users who lose their address when the user is
// written.
func UsersLosingEmail(t *Tx, u *schemas.User) (ids []string, err error) {
	rules, err := t.typeRules(u.Type)
	if err != nil {
		return nil, err
	}
	for _, key := range addressesOf(u) {
		holders, err := t.emailHolders(rules.prefix+key, u.ID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, holders...)
	}
	return ids, nil
}

// claimEmail is called when the identifying attributes of a user have been claimed, the address
// among them. It releases the claim of an unverified address, and removes the identifying address
// from all other users.
func (t *Tx) claimEmail(u *schemas.User, prefix string) error {
	if key := schemas.IdentifierKey(u.Text("email")); key != "" {
		if _, err := t.exec(insertEmail, prefix+key, u.ID, key); err != nil {
			return err
		}
		if !u.Verified(schemas.EmailVerified) && key != schemas.IdentifierKey(u.Text("username")) {
			if _, err := t.exec(deleteIdentifier, prefix+key, u.ID); err != nil {
				return err
			}
		}
	}
	for _, key := range addressesOf(u) {
		if err := t.takeEmail(key, prefix, u); err != nil {
			return err
		}
	}
	return nil
}

// takeEmail removes an address from all users of the scope except its owner.
func (t *Tx) takeEmail(key, prefix string, owner *schemas.User) error {
	ids, err := t.emailHolders(prefix+key, owner.ID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		u, err := t.lockUser(id)
		if schemas.HasCode(err, schemas.CodeUserNotFound) || err == nil && schemas.IdentifierKey(u.Text("email")) != key {
			continue // deleted or changed since the ids were read
		}
		if err == nil {
			err = t.loseEmail(u, owner)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loseEmail removes the address of a user and records that, without the address.
func (t *Tx) loseEmail(u, owner *schemas.User) error {
	if err := t.writeAttributes(u.WithoutEmail(), owner.UpdatedAt); err != nil {
		return err
	}
	if _, err := t.exec(deleteEmails, u.ID); err != nil {
		return err
	}
	if _, err := t.exec(deleteAddressOrigin, u.ID); err != nil {
		return err
	}
	return t.recordEvent(schemas.Event{
		At: owner.UpdatedAt, Action: "email.lost", UserID: u.ID, Detail: map[string]string{"owner": owner.ID},
	})
}
