package storetest

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func newSession(owner, token string) schemas.PasskeySession {
	return schemas.PasskeySession{
		TokenHash: []byte(token + "\x00\xff"), Ceremony: schemas.AuthenticationCeremony, Owner: owner,
		State: json.RawMessage(`{"challenge":"abc"}`), ExpiresAt: noon().Add(5 * time.Minute),
	}
}

func testTakeOnce(t *testing.T, s *store.Store) {
	const rounds, takers = 20, 16
	ctx := t.Context()
	for range rounds {
		session := newSession("ann", schemas.NewID())
		must(t, s.PutPasskeySession(ctx, session))
		var taken atomic.Int32
		together(takers, func(int) {
			got, err := s.TakePasskeySession(ctx, session.TokenHash, noon())
			if err == nil {
				taken.Add(1)
				wantEqual(t, "the session", got, &session)
			} else if !schemas.HasCode(err, schemas.CodeStaleSession) {
				t.Errorf("%v, expected %s", err, schemas.CodeStaleSession)
			}
		})
		if taken.Load() != 1 || t.Failed() {
			t.Fatalf("%d takers got the session, expected 1", taken.Load())
		}
		reply(s.TakePasskeySession(ctx, session.TokenHash, noon())).fails(t, schemas.Invalid, schemas.CodeStaleSession)
	}
}

func testVoid(t *testing.T, s *store.Store) {
	ctx := t.Context()
	older, newer := newSession("ann", "older"), newSession("ann", "newer")
	registration, other := newSession("ann", "registration"), newSession("bob", "other")
	registration.Ceremony = schemas.RegistrationCeremony
	for _, p := range []schemas.PasskeySession{older, registration, other, newer} {
		must(t, s.PutPasskeySession(ctx, p))
	}
	reply(s.TakePasskeySession(ctx, older.TokenHash, noon())).fails(t, schemas.Invalid, schemas.CodeStaleSession)
	// The other ceremony and the other owner keep theirs.
	for _, p := range []schemas.PasskeySession{newer, registration, other} {
		reply(s.TakePasskeySession(ctx, p.TokenHash, noon())).equals(t, "the session", &p)
	}

	// Whatever the order in which many start at once, one session is good.
	const starts = 16
	sessions := make([]schemas.PasskeySession, starts)
	together(starts, func(i int) {
		sessions[i] = newSession("ann", schemas.NewID())
		check(t, s.PutPasskeySession(ctx, sessions[i]))
	})
	good := 0
	for _, p := range sessions {
		if _, err := s.TakePasskeySession(ctx, p.TokenHash, noon()); err == nil {
			good++
		}
	}
	wantEqual(t, "the number of good sessions", good, 1)
}

func testExpiredSession(t *testing.T, s *store.Store) {
	ctx, session := t.Context(), newSession("ann", "token")
	must(t, s.PutPasskeySession(ctx, session))
	reply(s.TakePasskeySession(ctx, session.TokenHash, session.ExpiresAt)).fails(t, schemas.Invalid, schemas.CodeStaleSession)
	// It was consumed anyway: a clock that moves back does not restore it.
	reply(s.TakePasskeySession(ctx, session.TokenHash, noon())).fails(t, schemas.Invalid, schemas.CodeStaleSession)
}
