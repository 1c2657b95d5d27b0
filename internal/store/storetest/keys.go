package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func testKeys(t *testing.T, s *store.Store) {
	const instances = 8
	key := func(id, algorithm string, status schemas.KeyStatus) store.SigningKey {
		return store.SigningKey{ID: id, Algorithm: algorithm, Private: []byte{0, 0xff}, Status: status, CreatedAt: noon()}
	}
	oneWins(t, instances, "key_exists", func(i int) error {
		return s.AddSigningKey(t.Context(), key(fmt.Sprint("racer-", i), "ES256", schemas.KeySigning))
	})

	published := key("published", "ES256", schemas.KeyPublished)
	published.CreatedAt = noon().Add(time.Hour)
	must(t, s.AddSigningKey(t.Context(), published))
	must(t, s.AddSigningKey(t.Context(), key("rsa", "RS256", schemas.KeySigning)))
	keys := reply(s.SigningKeys(t.Context())).get(t)
	wantEqual(t, "the number of keys", len(keys), 3)
	wantEqual(t, "the newest key", keys[2], published)
	wantEqual(t, "the private half", keys[0].Private, []byte{0, 0xff})

	testKeyLife(t, s)
}

// testKeyLife advances the keys of ES256 from testKeys, on several instances concurrently: one
// instance makes each step.
func testKeyLife(t *testing.T, s *store.Store) {
	ctx := t.Context()
	first := signingKey(t, s, "ES256").ID
	at := func(hours int) time.Time { return noon().Add(time.Duration(hours) * time.Hour) }
	event := func(action string) schemas.Event {
		return schemas.Event{ID: schemas.NewID(), At: at(9), Action: action}
	}
	next := store.SigningKey{ID: "next", Algorithm: "ES256", Private: []byte{1}, Status: schemas.KeyPublished, CreatedAt: at(1)}
	wantError(t, s.PublishSigningKey(ctx, next, first, event("key.refused")), schemas.Conflict, "key_exists")

	step := func(code string, do func() error) {
		t.Helper()
		oneWins(t, 4, code, func(int) error { return do() })
	}
	step("key_moved", func() error {
		return s.PromoteSigningKey(ctx, "published", first, at(2), event("key.promoted"))
	})
	step("key_exists", func() error {
		return s.PublishSigningKey(ctx, next, "published", event("key.published"))
	})
	other := next
	other.ID = "other"
	wantError(t, s.PublishSigningKey(ctx, other, first, event("key.refused")), schemas.Conflict, "key_moved")
	wantError(t, s.PromoteSigningKey(ctx, "next", first, at(3), event("key.refused")), schemas.Conflict, "key_moved")
	wantError(t, s.PromoteSigningKey(ctx, "next", "", at(3), event("key.refused")), schemas.Conflict, "key_moved")
	wantError(t, s.PromoteSigningKey(ctx, "nobody", "published", at(3), event("key.refused")), schemas.Conflict, "key_moved")
	wantEqual(t, "the key that signs", signingKey(t, s, "ES256").SignsSince, at(2))

	wantError(t, s.PromoteSigningKey(ctx, first, "published", at(3), event("key.refused")), schemas.Conflict, "key_moved") // it is retired
	must(t, s.NeedSigningKey(ctx, first, at(8)))
	must(t, s.NeedSigningKey(ctx, first, at(5))) // takes nothing back
	wantError(t, s.NeedSigningKey(ctx, "nobody", at(8)), schemas.Conflict, "key_moved")
	for id, when := range map[string]time.Time{first: at(7), "published": at(100), "next": at(100), "nobody": at(100)} {
		wantError(t, s.RemoveSigningKey(ctx, id, when, event("key.refused")), schemas.Conflict, "key_moved")
	}
	keys := reply(s.SigningKeys(ctx)).get(t)
	for _, k := range keys {
		if k.ID == first {
			wantEqual(t, "the retired key", []any{k.Status, k.RetiredAt, k.NeededUntil}, []any{schemas.KeyRetired, at(2), at(8)})
		}
	}
	step("key_moved", func() error { return s.RemoveSigningKey(ctx, first, at(8), event("key.removed")) })
	must(t, s.PromoteSigningKey(ctx, "next", "published", at(9), event("key.promoted")))
	must(t, s.RemoveSigningKey(ctx, "published", at(9), event("key.removed"))) // it signed nothing

	for action, n := range map[string]int{"key.refused": 0, "key.published": 1, "key.promoted": 2, "key.removed": 2} {
		wantEqual(t, "the number of events "+action, len(reply(s.Events(ctx, schemas.EventQuery{Action: action, Limit: 10})).get(t)), n)
	}
}

// signingKey is the key that signs with an algorithm.
func signingKey(t *testing.T, s *store.Store, algorithm string) (found store.SigningKey) {
	t.Helper()
	keys := reply(s.SigningKeys(t.Context())).get(t)
	for _, k := range keys {
		if k.Algorithm == algorithm && k.Status == schemas.KeySigning {
			found = k
		}
	}
	return found
}
