package storetest

import (
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

func testCredentialRoundTrip(t *testing.T, s RunStore) {
	ctx := t.Context()
	u := newUser("ann")
	first, second := newCredential(u.ID), newCredential(u.ID)
	first.CreatedAt = noon().Add(-time.Hour)
	first.Transports, first.Attachment, first.UserVerified, first.SignCount = nil, "", false, 0
	used := noon().Add(time.Minute)
	second.Attested, second.AttestationFormat = true, "packed"
	second.ID, second.LastUsedAt = schemas.Bytes{0, 0xff, '\'', '\n'}, &used
	must(t, s.Apply(ctx, append(create(u), schemas.CreateCredential{Credential: first},
		schemas.CreateCredential{Credential: second})))

	list, err := s.Credentials(ctx, u.ID)
	must(t, err)
	wantEqual(t, "the passkeys", list, []schemas.Credential{first, second})
	got, err := s.Credential(ctx, second.ID)
	must(t, err)
	wantEqual(t, "the passkey", got, &second)

	_, err = s.Credential(ctx, schemas.Bytes("unknown"))
	wantError(t, err, schemas.NotFound, schemas.CodeCredentialNotFound)
	list, err = s.Credentials(ctx, schemas.NewID())
	must(t, err)
	wantEqual(t, "the passkeys without a user", len(list), 0)
}

func testCredentialUnique(t *testing.T, s RunStore) {
	ctx := t.Context()
	ann, bob := newUser("ann"), newUser("bob")
	key := newCredential(ann.ID)
	must(t, s.Apply(ctx, append(create(ann), schemas.CreateCredential{Credential: key})))
	must(t, s.Apply(ctx, create(bob)))
	for _, owner := range []string{ann.ID, bob.ID} {
		again := key
		again.UserID, again.Name = owner, "again"
		err := s.Apply(ctx, []schemas.Change{schemas.CreateCredential{Credential: again}})
		wantError(t, err, schemas.Conflict, schemas.CodeCredentialExists)
	}
	got, err := s.Credential(ctx, key.ID)
	must(t, err)
	wantEqual(t, "the passkey", got, &key)
}

// testSignCount records uses at once and then out of order: the counter is the
// highest that was seen, or a cloned authenticator would go unnoticed.
func testSignCount(t *testing.T, s RunStore) {
	ctx := t.Context()
	u := newUser("ann")
	key := newCredential(u.ID)
	key.SignCount = 7
	must(t, s.Apply(ctx, append(create(u), schemas.CreateCredential{Credential: key})))

	use := func(count uint32, at time.Time, backedUp bool) []schemas.Change {
		return []schemas.Change{schemas.UseCredential{ID: key.ID, SignCount: count, BackupState: backedUp, At: at}}
	}
	const uses = 16
	together(uses, func(i int) {
		if err := s.Commit(ctx, newRun(), use(uint32(100-i), noon(), true)); err != nil {
			t.Error(err)
		}
	})
	later := noon().Add(time.Hour)
	must(t, s.Apply(ctx, use(99, later, false)))
	got, err := s.Credential(ctx, key.ID)
	must(t, err)
	key.SignCount, key.LastUsedAt, key.BackupState = 100, &later, false
	wantEqual(t, "the passkey", got, &key)

	err = s.Apply(ctx, []schemas.Change{schemas.UseCredential{ID: schemas.Bytes("unknown"), SignCount: 1, At: noon()}})
	wantError(t, err, schemas.NotFound, schemas.CodeCredentialNotFound)
}
