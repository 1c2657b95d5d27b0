package store

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	familyColumns = `id, session_id, application_id, client_id, scopes, resources, granted, generation, rotated_at, created_at, expires_at`

	insertFamily = `INSERT INTO refresh_families (` + familyColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectFamily = `SELECT ` + familyColumns + ` FROM refresh_families WHERE id = ?`
	deleteFamily = `DELETE FROM refresh_families WHERE id = ?`

	// The session of a client that is authorized with offline_access.
	insertOffline = `INSERT INTO sessions (` + sessionColumns + `)
		SELECT ?, user_id, ?, amr, acr, client, created_at, ?, proofs, '', created_at, id FROM sessions WHERE id = ?`
	deleteOffline = `DELETE FROM sessions WHERE id = ? AND offline_of <> ''`

	// Only one of several concurrent rotations of a generation succeeds.
	rotateFamily = `UPDATE refresh_families SET generation = generation + 1, rotated_at = ?
		WHERE id = ? AND generation = ? AND expires_at > ?`
)

func errNoRefresh() error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeRefreshNotFound, "there is no such refresh token, or it has expired or was revoked")
}

func (t *Tx) createFamily(f *schemas.RefreshFamily) error {
	err := t.later(insertFamily, f.ID, f.SessionID, f.ApplicationID, f.ClientID, (*lines)(&f.Scopes), (*lines)(&f.Resources), asJSON(f.Grant),
		f.Generation, toMicros(f.RotatedAt), toMicros(f.CreatedAt), toMicros(f.ExpiresAt))
	if isForeignKeyViolation(err) {
		return errNoCode()
	}
	return err
}

// RefreshFamily returns a family of refresh tokens. An unknown or revoked one is
// refresh_token_not_found, Class Invalid. An expired one may still be stored.
func (s *Store) RefreshFamily(ctx context.Context, id string) (*schemas.RefreshFamily, error) {
	if f := aheadOf(ctx).takeFamily(id); f != nil {
		return f, nil
	}
	return readOne(s.row(ctx, selectFamily, id), scanFamily, errNoRefresh)
}

func scanFamily(row scanner, f *schemas.RefreshFamily) error {
	return row.Scan(familyDestinations(f)...)
}

func familyDestinations(f *schemas.RefreshFamily) []any {
	return []any{&f.ID, &f.SessionID, &f.ApplicationID, &f.ClientID, (*lines)(&f.Scopes), (*lines)(&f.Resources), asJSON(&f.Grant), &f.Generation,
		(*microTime)(&f.RotatedAt), (*microTime)(&f.CreatedAt), (*microTime)(&f.ExpiresAt)}
}

// RotateRefresh advances a family of refresh tokens to its next generation, or leaves it if
// the previous reply may have been lost. Any other use of an older generation means that the
// tokens were stolen: the family is revoked and reused is true (RFC 9700 §4.14.2). A missing
// family is refresh_token_not_found.
func (s *Store) RotateRefresh(ctx context.Context, r schemas.Rotation) (reused bool, err error) {
	rotated := false
	err = s.writer.single(ctx, func(t *Tx) error {
		n, err := t.exec(rotateFamily, toMicros(r.At), r.ID, r.Generation, toMicros(r.At))
		rotated = n == 1
		return err
	})
	if err != nil || rotated {
		return false, err
	}
	err = s.writer.write(ctx, func(t *Tx) (err error) {
		reused, err = t.refuseRotation(r)
		return err
	})
	return reused, err
}

// refuseRotation decides about a refresh token that is not the newest of its family.
func (t *Tx) refuseRotation(r schemas.Rotation) (reused bool, err error) {
	f, err := readOne(t.row(selectFamily, r.ID), scanFamily, errNoRefresh)
	switch {
	case err != nil:
		return false, err
	case !r.At.Before(f.ExpiresAt), r.Generation >= f.Generation:
		return false, errNoRefresh()
	case r.Generation == f.Generation-1 && r.At.Before(f.RotatedAt.Add(r.Window)):
		return false, nil
	}
	return true, t.revokeFamily(r.ID, r.Revoke)
}

// createOfflineSession starts the session of a family with offline_access.
func (t *Tx) createOfflineSession(f *schemas.RefreshFamily) error {
	err := t.later(insertOffline, f.SessionID, f.ApplicationID, toMicros(f.ExpiresAt), f.Grant.SessionID)
	if err == nil {
		err = t.later(insertSessionClient, f.SessionID, f.ApplicationID)
	}
	if err == nil {
		err = t.later(moveRunValues, f.SessionID, f.ID, f.Grant.SessionID)
	}
	if isForeignKeyViolation(err) {
		return errNoCode()
	}
	return err
}

func (t *Tx) revokeFamily(id string, until time.Time) error {
	if _, err := t.exec(deleteFamily, id); err != nil {
		return err
	}
	if _, err := t.exec(deleteOffline, id); err != nil {
		return err
	}
	if _, err := t.exec(deleteRunValues, id); err != nil {
		return err
	}
	return t.revokeToken(schemas.RevokeToken{ID: id, ExpiresAt: until})
}
