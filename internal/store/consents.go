package store

import (
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	consentColumns = `user_id, application_id, scope, granted_at, ask_again_at, claims`

	selectConsent = `SELECT ` + consentColumns + ` FROM consents WHERE user_id = ? AND application_id = ? ORDER BY scope`

	upsertConsent = `INSERT INTO consents (` + consentColumns + `) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (user_id, application_id, scope) DO UPDATE SET granted_at = excluded.granted_at, ask_again_at = excluded.ask_again_at, claims = excluded.claims`

	selectConsents = `SELECT ` + consentColumns + ` FROM consents WHERE user_id = ? ORDER BY application_id, scope`
)

// access is the scope of the row that stores the consent to sign in to a client at all.
const access = ""

// Consent returns the user's consent for the client of an application, nil if there is none.
func (s *Store) Consent(ctx context.Context, userID, applicationID string) (*schemas.Consent, error) {
	found, err := readConsents(ctx, s, selectConsent, userID, applicationID)
	return firstOf(found), err
}

// ConsentsOf returns all consents of a user, newest first.
func ConsentsOf(ctx context.Context, r Reader, userID string) ([]schemas.Consent, error) {
	found, err := readConsents(ctx, r, selectConsents, userID)
	slices.SortStableFunc(found, func(a, b schemas.Consent) int { return b.GrantedAt.Compare(a.GrantedAt) })
	return found, err
}

// grantConsent writes the scopes in a fixed order, so that two writers of the same scopes do
// not deadlock.
func (t *Tx) grantConsent(c schemas.GrantConsent) error {
	scopes := append([]string{access}, c.Scopes...)
	slices.Sort(scopes)
	for _, scope := range slices.Compact(scopes) {
		_, err := t.exec(upsertConsent, c.UserID, c.ApplicationID, scope, toMicros(c.At), (*nullTime)(&c.AskAgainAt), asJSON(c.Claims[scope]))
		if isForeignKeyViolation(err) {
			return schemas.Errorf(schemas.Conflict, schemas.CodeAppNotFound, "the user or the application no longer exists; start again")
		}
		if err != nil {
			return err
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
		return false, err
	}
	families, err := issued(t, userID, applicationID)
	if err != nil {
		return false, err
	}
	for _, id := range families {
		if err := t.revokeFamily(id, until); err != nil {
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
		var g schemas.Grant
		err := row.Scan(&id, asJSON(&g))
		if g.UserID == userID {
			ids = append(ids, id)
		}
		return err
	}
	err = rows(t.ctx, t, add, `SELECT f.id, f.granted FROM refresh_families f JOIN sessions s ON s.id = f.session_id
		WHERE f.application_id = ? AND s.user_id = ?
		UNION SELECT id, granted FROM auth_requests WHERE application_id = ? AND redeemed_at IS NOT NULL`, applicationID, userID, applicationID)
	return ids, err
}

// readConsents groups rows into consents. The rows of one application are adjacent and start
// with the one without a scope.
func readConsents(ctx context.Context, r Reader, q string, args ...any) (found []schemas.Consent, err error) {
	err = rows(ctx, r, func(row scanner) error {
		var user, application string
		var s schemas.ConsentedScope
		if err := row.Scan(&user, &application, &s.Scope, (*microTime)(&s.GrantedAt), optionalTime{&s.AskAgainAt}, asJSON(&s.Claims)); err != nil {
			return err
		}
		if n := len(found); n == 0 || found[n-1].ApplicationID != application {
			found = append(found, schemas.Consent{UserID: user, ApplicationID: application, Scopes: []schemas.ConsentedScope{}})
		}
		c := &found[len(found)-1]
		if s.Scope == access {
			c.GrantedAt, c.AskAgainAt = s.GrantedAt, s.AskAgainAt
			return nil
		}
		c.Scopes = append(c.Scopes, s)
		return nil
	}, q, args...)
	return found, err
}
