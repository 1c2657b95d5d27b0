package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	familyColumns = `id, session_id, application_id, client_id, scopes, resources, granted, generation, rotated_at, created_at, expires_at`

	insertFamily query = `INSERT INTO refresh_families (` + familyColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectFamily query = `SELECT ` + familyColumns + ` FROM refresh_families WHERE id = ?`
	deleteFamily query = `DELETE FROM refresh_families WHERE id = ?`

	// Only one of several concurrent rotations of a generation succeeds.
	rotateFamily query = `UPDATE refresh_families SET generation = generation + 1, rotated_at = ?
		WHERE id = ? AND generation = ? AND expires_at > ?`

	// A session lasts as long as the last tokens that can be obtained in it.
	prolongSession query = `UPDATE sessions SET expires_at = ? WHERE id = ? AND expires_at < ?`
)

func errNoRefresh() error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeRefreshNotFound, "There is no such refresh token, or it has expired or was revoked.")
}

func (t *tx) createFamily(f *schemas.RefreshFamily) error {
	kept, err := splitLines(f.Scopes, f.Resources)
	if err != nil {
		return err
	}
	granted, err := marshalJSON(f.Grant)
	if err != nil {
		return err
	}
	_, err = t.exec(insertFamily, f.ID, f.Grant.SessionID, f.ApplicationID, f.ClientID, kept[0], kept[1], granted,
		f.Generation, toMicros(f.RotatedAt), toMicros(f.CreatedAt), toMicros(f.ExpiresAt))
	if isForeignKeyViolation(err) {
		return errNoCode()
	}
	if err == nil {
		_, err = t.exec(prolongSession, toMicros(f.ExpiresAt), f.Grant.SessionID, toMicros(f.ExpiresAt))
	}
	if err != nil {
		return fmt.Errorf("store: keeping a family of refresh tokens: %w", err)
	}
	return nil
}

// RefreshFamily returns a family of refresh tokens. An unknown or revoked one is
// refresh_token_not_found, Class Invalid. An expired one may still be stored.
func (s *Store) RefreshFamily(ctx context.Context, id string) (*schemas.RefreshFamily, error) {
	if !isStorable(id) {
		return nil, errNoRefresh()
	}
	return scanFamily(s.row(ctx, selectFamily, id))
}

func scanFamily(row scanner) (*schemas.RefreshFamily, error) {
	var f schemas.RefreshFamily
	var scopes, resources sql.NullString
	var granted []byte
	err := row.Scan(&f.ID, &f.Grant.SessionID, &f.ApplicationID, &f.ClientID, &scopes, &resources, &granted, &f.Generation,
		(*microTime)(&f.RotatedAt), (*microTime)(&f.CreatedAt), (*microTime)(&f.ExpiresAt))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNoRefresh()
	}
	if err != nil {
		return nil, fmt.Errorf("store: reading a family of refresh tokens: %w", err)
	}
	f.Scopes, f.Resources = list(scopes), list(resources)
	return &f, parse(granted, &f.Grant)
}

// RotateRefresh advances a family of refresh tokens to its next generation, or leaves it if
// the previous reply may have been lost. Any other use of an older generation means that the
// tokens were stolen: the family is revoked and reused is true (RFC 9700 §4.14.2). A missing
// family is refresh_token_not_found.
func (s *Store) RotateRefresh(ctx context.Context, r schemas.Rotation) (reused bool, err error) {
	err = s.writer.write(ctx, func(t *tx) error {
		reused = false
		n, err := t.exec(rotateFamily, toMicros(r.At), r.ID, r.Generation, toMicros(r.At))
		if err != nil {
			return fmt.Errorf("store: rotating a refresh token: %w", err)
		}
		if n == 1 {
			return nil
		}
		f, err := scanFamily(t.row(selectFamily, r.ID))
		switch {
		case err != nil:
			return err
		case !r.At.Before(f.ExpiresAt), r.Generation >= f.Generation:
			return errNoRefresh()
		case r.Generation == f.Generation-1 && r.At.Before(f.RotatedAt.Add(r.Window)):
			return nil
		}
		reused = true
		return t.revokeFamily(r.ID, r.Revoke)
	})
	return reused, err
}

func (t *tx) revokeFamily(id string, until time.Time) error {
	if _, err := t.exec(deleteFamily, id); err != nil {
		return fmt.Errorf("store: revoking refresh tokens: %w", err)
	}
	return t.revokeToken(schemas.RevokeToken{ID: id, ExpiresAt: until})
}
