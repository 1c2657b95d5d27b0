package server

import (
	"context"
	"encoding/json"

	"github.com/postern-id/postern/schemas"
)

// openSession keeps the state of a ceremony and returns the token to finish it
// with. The owner's older session for the same ceremony is void from now on.
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

// anonymousOwner is the owner of a session that was begun for no user in particular.
// Each is its own: if they shared an owner, any stranger could void the session
// of whoever is signing in at the moment.
func anonymousOwner() string { return "anonymous:" + schemas.NewID() }

// consumeSession takes the session that a finish names, for once and for all. A
// token of the other ceremony is burned as well: whoever tries that is not
// finishing what they began.
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

// dropSession voids the session of a client that begins anew. Whoever holds a
// token could burn it by a finish as well, so none is too good to be given up;
// one that is stale has been already.
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
