package server

import (
	"context"
	"encoding/json"

	"github.com/postern-id/postern/schemas"
)

// openSession stores the state of a ceremony and returns the token for its finish. It replaces the
// owner's older session for the same ceremony.
func (s *server) openSession(ctx context.Context, of schemas.Ceremony, owner string, state json.RawMessage) (token string, err error) {
	token = schemas.NewSecret()
	return token, s.Store.PutPasskeySession(ctx, schemas.PasskeySession{
		TokenHash: schemas.HashSecret(token),
		Ceremony:  of,
		Owner:     owner,
		State:     state,
		ExpiresAt: s.now().Add(s.SessionTTL),
	})
}

// anonymousOwner returns the owner of a session that was started without a user. Each is unique:
// with a shared owner any caller could invalidate the session of another.
func anonymousOwner() string { return "anonymous:" + schemas.NewID() }

// consumeSession removes and returns the session of a finish. A token of the other ceremony is
// consumed as well.
func (s *server) consumeSession(ctx context.Context, token string, of schemas.Ceremony) (*schemas.PasskeySession, error) {
	session, err := s.Store.TakePasskeySession(ctx, schemas.HashSecret(token), s.now())
	if err != nil {
		return nil, err
	}
	if session.Ceremony != of {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeStaleSession,
			"this sessionToken is that of a passkey %s and cannot finish a passkey %s; it is used up now, start again", session.Ceremony, of)
	}
	return session, nil
}

// dropSession removes the session of a client that starts again. Any holder of the token could also
// consume it with a finish; a stale token is ignored.
func (s *server) dropSession(ctx context.Context, token *string) error {
	if token == nil {
		return nil
	}
	_, err := s.Store.TakePasskeySession(ctx, schemas.HashSecret(*token), s.now())
	if schemas.HasCode(err, schemas.CodeStaleSession) {
		return nil
	}
	return err
}
