package store

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	// An owner has one session for each ceremony; a new one replaces it.
	upsertPasskeySession = `INSERT INTO passkey_sessions (owner, ceremony, token_hash, state, expires_at)
		VALUES (?, ?, ?, ?, ?) ON CONFLICT (owner, ceremony) DO UPDATE SET
		token_hash = excluded.token_hash, state = excluded.state, expires_at = excluded.expires_at`

	deletePasskeySession = `DELETE FROM passkey_sessions WHERE token_hash = ?
		RETURNING owner, ceremony, token_hash, state, expires_at`
)

// PutPasskeySession stores the state of an unfinished ceremony and replaces an older session
// of the same owner and ceremony.
func (s *Store) PutPasskeySession(ctx context.Context, p schemas.PasskeySession) error {
	return s.writer.single(ctx, func(t *Tx) error {
		_, err := t.exec(upsertPasskeySession, p.Owner, string(p.Ceremony), nonNilBytes(p.TokenHash), opaque(p.State),
			toMicros(p.ExpiresAt))
		return err
	})
}

// TakePasskeySession returns and deletes the session, so that only one of several callers gets
// it. A session that is unknown, used, replaced or expired is stale_session_token, Class
// Invalid.
func (s *Store) TakePasskeySession(ctx context.Context, tokenHash []byte, now time.Time) (*schemas.PasskeySession, error) {
	var p *schemas.PasskeySession
	err := s.writer.single(ctx, func(t *Tx) (err error) {
		p, err = readOne(t.row(deletePasskeySession, nonNilBytes(tokenHash)), scanPasskeySession, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	if p == nil || !now.Before(p.ExpiresAt) {
		return nil, errStaleSession()
	}
	return p, nil
}

func errStaleSession() error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeStaleSession,
		"the sessionToken is unknown, used, expired, or replaced by a newer one; start again and use the newest")
}

func scanPasskeySession(row scanner, p *schemas.PasskeySession) error {
	return row.Scan(&p.Owner, (*string)(&p.Ceremony), &p.TokenHash, (*[]byte)(&p.State), (*microTime)(&p.ExpiresAt))
}
