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

	reply(s.Credentials(ctx, u.ID)).equals(t, "the passkeys", []schemas.Credential{first, second})
	reply(s.Credential(ctx, second.ID)).equals(t, "the passkey", &second)

	reply(s.Credential(ctx, schemas.Bytes("unknown"))).fails(t, schemas.NotFound, schemas.CodeCredentialNotFound)
	wantEqual(t, "the passkeys without a user", len(reply(s.Credentials(ctx, schemas.NewID())).get(t)), 0)
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
		wantError(t, s.Apply(ctx, []schemas.Change{schemas.CreateCredential{Credential: again}}), schemas.Conflict, schemas.CodeCredentialExists)
	}
	reply(s.Credential(ctx, key.ID)).equals(t, "the passkey", &key)
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
		check(t, s.Commit(ctx, newRun(), use(uint32(100-i), noon(), true)))
	})
	later := noon().Add(time.Hour)
	must(t, s.Apply(ctx, use(99, later, false)))
	got := reply(s.Credential(ctx, key.ID)).get(t)
	key.SignCount, key.LastUsedAt, key.BackupState = 100, &later, false
	wantEqual(t, "the passkey", got, &key)

	wantError(t, s.Apply(ctx, []schemas.Change{schemas.UseCredential{ID: schemas.Bytes("unknown"), SignCount: 1, At: noon()}}), schemas.NotFound, schemas.CodeCredentialNotFound)
}
