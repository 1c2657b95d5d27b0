package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	consentColumns = `user_id, application_id, scope, granted_at, ask_again_at`

	selectConsent query = `SELECT ` + consentColumns + ` FROM consents WHERE user_id = ? AND application_id = ? ORDER BY scope`

	upsertConsent query = `INSERT INTO consents (` + consentColumns + `) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (user_id, application_id, scope) DO UPDATE SET granted_at = excluded.granted_at, ask_again_at = excluded.ask_again_at`

	selectConsents = `SELECT ` + consentColumns + ` FROM consents WHERE user_id = ? ORDER BY application_id, scope`
)

// access is the scope of the row that stores the consent to sign in to a client at all.
const access = ""

// Consent returns the user's consent for the client of an application, nil if there is none.
func (s *Store) Consent(ctx context.Context, userID, applicationID string) (*schemas.Consent, error) {
	if !isStorable(userID) || !isStorable(applicationID) {
		return nil, nil
	}
	var found []schemas.Consent
	if err := s.each(ctx, selectConsent, intoConsents(&found), userID, applicationID); err != nil {
		return nil, fmt.Errorf("store: reading a consent: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// ConsentsOf returns all consents of a user, newest first.
func ConsentsOf(ctx context.Context, r Reader, userID string) (found []schemas.Consent, err error) {
	if !isStorable(userID) {
		return nil, nil
	}
	if err := rows(ctx, r, intoConsents(&found), selectConsents, userID); err != nil {
		return nil, fmt.Errorf("reading consents: %w", err)
	}
	slices.SortStableFunc(found, func(a, b schemas.Consent) int { return b.GrantedAt.Compare(a.GrantedAt) })
	return found, nil
}

// intoConsents groups rows into consents. The rows of one application are adjacent and start
// with the one without a scope.
func intoConsents(found *[]schemas.Consent) func(scanner) error {
	return func(row scanner) error {
		var user, application string
		var s schemas.ConsentedScope
		var again sql.NullInt64
		if err := row.Scan(&user, &application, &s.Scope, (*microTime)(&s.GrantedAt), &again); err != nil {
			return err
		}
		if again.Valid {
			at := fromMicros(again.Int64)
			s.AskAgainAt = &at
		}
		if n := len(*found); n == 0 || (*found)[n-1].ApplicationID != application {
			*found = append(*found, schemas.Consent{UserID: user, ApplicationID: application, Scopes: []schemas.ConsentedScope{}})
		}
		c := &(*found)[len(*found)-1]
		if s.Scope == access {
			c.GrantedAt, c.AskAgainAt = s.GrantedAt, s.AskAgainAt
			return nil
		}
		c.Scopes = append(c.Scopes, s)
		return nil
	}
}

// grantConsent writes the scopes in a fixed order, so that two writers of the same scopes do
// not deadlock.
func (t *tx) grantConsent(c schemas.GrantConsent) error {
	again := sql.NullInt64{Int64: toMicros(c.AskAgainAt), Valid: !c.AskAgainAt.IsZero()}
	scopes := append([]string{access}, c.Scopes...)
	slices.Sort(scopes)
	for _, scope := range slices.Compact(scopes) {
		_, err := t.exec(upsertConsent, c.UserID, c.ApplicationID, scope, toMicros(c.At), again)
		if isForeignKeyViolation(err) {
			return schemas.Errorf(schemas.Conflict, schemas.CodeAppNotFound, "The user or the application is no longer there. Start again.")
		}
		if err != nil {
			return fmt.Errorf("store: keeping a consent: %w", err)
		}
	}
	return nil
}

// RevokeConsent removes a user's consent for the client of an application and revokes its
// refresh tokens and the access tokens issued for them or for codes. The revocations are
// stored until the given time. It reports whether there was a consent.
func RevokeConsent(t *Tx, userID, applicationID string, until time.Time) (bool, error) {
	n, err := t.exec("DELETE FROM consents WHERE user_id = ? AND application_id = ?", userID, applicationID)
	if err != nil {
		return false, fmt.Errorf("store: revoking a consent: %w", err)
	}
	families, err := issued(t, userID, applicationID)
	if err != nil {
		return false, err
	}
	for _, id := range families {
		if err := t.tx.revokeFamily(id, until); err != nil {
			return false, err
		}
	}
	return n > 0, nil
}

// issued returns the IDs of the authorization requests for which an application may hold
// tokens of a user.
func issued(t *Tx, userID, applicationID string) (ids []string, err error) {
	add := func(row scanner) error {
		var id string
		var granted []byte
		var g schemas.Grant
		if err := row.Scan(&id, &granted); err != nil {
			return err
		}
		if err := parse(granted, &g); err != nil {
			return err
		}
		if g.UserID == userID {
			ids = append(ids, id)
		}
		return nil
	}
	err = rows(t.tx.ctx, t, add, `SELECT f.id, f.granted FROM refresh_families f JOIN sessions s ON s.id = f.session_id
		WHERE f.application_id = ? AND s.user_id = ?
		UNION SELECT id, granted FROM auth_requests WHERE application_id = ? AND redeemed_at IS NOT NULL`, applicationID, userID, applicationID)
	if err != nil {
		return nil, fmt.Errorf("looking for what came of a consent: %w", err)
	}
	return ids, nil
}
