package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Reads of a user's data for the rules of the directory. They take a Reader, so they also work
// in the transaction that changes the data.

// CredentialsOf returns the user's passkeys, oldest first.
func CredentialsOf(ctx context.Context, r Reader, userID string) (credentials []schemas.Credential, err error) {
	if !isStorable(userID) {
		return nil, nil
	}
	err = rows(ctx, r, func(row scanner) error {
		credentials = append(credentials, schemas.Credential{})
		return scanCredential(row, &credentials[len(credentials)-1])
	}, string(selectCredentials), userID)
	if err != nil {
		return nil, fmt.Errorf("reading passkeys: %w", err)
	}
	return credentials, nil
}

// SessionsOf returns the user's sessions that have not expired at now, newest
// first.
func SessionsOf(ctx context.Context, r Reader, userID string, now time.Time) (sessions []schemas.Session, err error) {
	if !isStorable(userID) {
		return nil, nil
	}
	err = rows(ctx, r, func(row scanner) error {
		sessions = append(sessions, schemas.Session{})
		return scanSession(row, &sessions[len(sessions)-1])
	}, selectSessions, userID, toMicros(now))
	if err != nil {
		return nil, fmt.Errorf("reading sessions: %w", err)
	}
	return sessions, nil
}

// HasPassword reports whether the user has a password.
func HasPassword(ctx context.Context, r Reader, userID string) (has bool, err error) {
	if !isStorable(userID) {
		return false, nil
	}
	err = rows(ctx, r, func(scanner) error {
		has = true
		return nil
	}, "SELECT 1 FROM passwords WHERE user_id = ?", userID)
	if err != nil {
		return false, fmt.Errorf("looking for a password: %w", err)
	}
	return has, nil
}

// RemovePassword removes a user's password, and ends the user's runs and the sessions that
// rest on the password. It succeeds if there is none.
func RemovePassword(t *Tx, userID string, at time.Time) error {
	if _, err := t.tx.lockUser(userID); err != nil {
		return err
	}
	if _, err := t.exec("DELETE FROM passwords WHERE user_id = ?", userID); err != nil {
		return fmt.Errorf("store: removing a password: %w", err)
	}
	if err := EndRuns(t, userID); err != nil {
		return err
	}
	return t.tx.endSessionsOn(userID, schemas.Proof{Kind: schemas.PasswordProof}, at)
}

// TakenAttributes returns the attributes whose value belongs to another user: identifying
// attributes, under any name, and unique ones.
func TakenAttributes(ctx context.Context, r Reader, u *schemas.User, unique []string) (taken []string, err error) {
	look := func(attribute, q string, args ...any) error {
		return rows(ctx, r, func(scanner) error {
			taken = append(taken, attribute)
			return nil
		}, q, append(args, u.ID)...)
	}
	for _, attribute := range schemas.IdentifyingAttributes() {
		if key := schemas.IdentifierKey(u.Text(attribute)); key != "" {
			if err := look(attribute, "SELECT 1 FROM user_identifiers WHERE value = "+scopedValue+" AND user_id <> ?", u.Type, key); err != nil {
				return nil, err
			}
		}
	}
	for _, attribute := range unique {
		if slices.Contains(schemas.IdentifyingAttributes(), attribute) {
			continue
		}
		key, err := uniqueKey(u.Attributes[attribute])
		if err != nil {
			return nil, err
		}
		if key == "" {
			continue
		}
		if err := look(attribute, "SELECT 1 FROM user_unique_values WHERE attribute = ? AND value = "+scopedValue+" AND user_id <> ?", attribute, u.Type, key); err != nil {
			return nil, err
		}
	}
	return taken, nil
}
