package storetest

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func testCredentialRoundTrip(t *testing.T, s RunStore) {
	u := newUser("ann")
	first, second := newCredential(u.ID), newCredential(u.ID)
	first.CreatedAt = noon().Add(-time.Hour)
	first.Transports, first.Attachment, first.UserVerified, first.SignCount = nil, "", false, 0
	used := noon().Add(time.Minute)
	second.Attested, second.AttestationFormat = true, "packed"
	second.ID, second.LastUsedAt = schemas.Bytes{0, 0xff, '\'', '\n'}, &used
	must(t, s.Apply(t.Context(), authorized(append(create(u), schemas.CreateCredential{Credential: first},
		schemas.CreateCredential{Credential: second}))))

	reply(s.Credentials(t.Context(), u.ID)).equals(t, "the passkeys", []schemas.Credential{first, second})
	reply(s.Credential(t.Context(), second.ID)).equals(t, "the passkey", &second)

	reply(s.Credential(t.Context(), schemas.Bytes("unknown"))).fails(t, schemas.NotFound, schemas.CodeCredentialNotFound)
	wantEqual(t, "the passkeys without a user", len(reply(s.Credentials(t.Context(), schemas.NewID())).get(t)), 0)
}

func testCredentialUnique(t *testing.T, s RunStore) {
	ann, bob := newUser("ann"), newUser("bob")
	key := newCredential(ann.ID)
	apply(t, s, append(create(ann), schemas.CreateCredential{Credential: key})...)
	apply(t, s, create(bob)...)
	for _, owner := range []string{ann.ID, bob.ID} {
		again := key
		again.UserID, again.Name = owner, "again"
		wantError(t, s.Apply(t.Context(), authorized([]schemas.Change{schemas.CreateCredential{Credential: again}})), schemas.Conflict, schemas.CodeCredentialExists)
	}
	reply(s.Credential(t.Context(), key.ID)).equals(t, "the passkey", &key)
}

// testSignCount records uses concurrently and then out of order: the counter must be the highest
// one, because a cloned authenticator would otherwise go unnoticed.
func testSignCount(t *testing.T, s RunStore) {
	u := newUser("ann")
	key := newCredential(u.ID)
	key.SignCount = 7
	apply(t, s, append(create(u), schemas.CreateCredential{Credential: key})...)

	use := func(count uint32, at time.Time, backedUp bool) []schemas.Change {
		return []schemas.Change{schemas.UseCredential{ID: key.ID, SignCount: count, BackupState: backedUp, At: at}}
	}
	const uses = 16
	together(uses, func(i int) {
		check(t, s.Commit(t.Context(), newRun(), use(uint32(100-i), noon(), true)))
	})
	later := noon().Add(time.Hour)
	apply(t, s, use(99, later, false)...)
	got := reply(s.Credential(t.Context(), key.ID)).get(t)
	key.SignCount, key.LastUsedAt, key.BackupState = 100, &later, false
	wantEqual(t, "the passkey", got, &key)

	wantError(t, s.Apply(t.Context(), []schemas.Change{schemas.UseCredential{ID: schemas.Bytes("unknown"), SignCount: 1, At: noon()}}), schemas.NotFound, schemas.CodeCredentialNotFound)
}

func newSession(owner, token string) schemas.PasskeySession {
	return schemas.PasskeySession{
		TokenHash: []byte(token + "\x00\xff"), Ceremony: schemas.AuthenticationCeremony, Owner: owner,
		State: json.RawMessage(`{"challenge":"abc"}`), ExpiresAt: noon().Add(5 * time.Minute),
	}
}

func testTakeOnce(t *testing.T, s *store.Store) {
	const rounds, takers = 20, 16
	for range rounds {
		session := newSession("ann", schemas.NewID())
		must(t, s.PutPasskeySession(t.Context(), session))
		oneWins(t, takers, schemas.CodeStaleSession, func(int) error {
			got, err := s.TakePasskeySession(t.Context(), session.TokenHash, noon())
			if err == nil && !reflect.DeepEqual(got, &session) {
				t.Errorf("took %s, expected %s", text(got), text(session))
			}
			return err
		})
		reply(s.TakePasskeySession(t.Context(), session.TokenHash, noon())).fails(t, schemas.Invalid, schemas.CodeStaleSession)
	}
}

func testVoid(t *testing.T, s *store.Store) {
	older, newer := newSession("ann", "older"), newSession("ann", "newer")
	registration, other := newSession("ann", "registration"), newSession("bob", "other")
	registration.Ceremony = schemas.RegistrationCeremony
	for _, p := range []schemas.PasskeySession{older, registration, other, newer} {
		must(t, s.PutPasskeySession(t.Context(), p))
	}
	reply(s.TakePasskeySession(t.Context(), older.TokenHash, noon())).fails(t, schemas.Invalid, schemas.CodeStaleSession)
	// The other ceremony and the other owner keep theirs.
	for _, p := range []schemas.PasskeySession{newer, registration, other} {
		reply(s.TakePasskeySession(t.Context(), p.TokenHash, noon())).equals(t, "the session", &p)
	}

	// After many concurrent starts, one session is valid.
	const starts = 16
	sessions := make([]schemas.PasskeySession, starts)
	together(starts, func(i int) {
		sessions[i] = newSession("ann", schemas.NewID())
		check(t, s.PutPasskeySession(t.Context(), sessions[i]))
	})
	good := 0
	for _, p := range sessions {
		if _, err := s.TakePasskeySession(t.Context(), p.TokenHash, noon()); err == nil {
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
