package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func testKeys(t *testing.T, s *store.Store) {
	const instances = 8
	ctx := t.Context()
	key := func(id, algorithm string, status schemas.KeyStatus) store.SigningKey {
		return store.SigningKey{ID: id, Algorithm: algorithm, Private: []byte{0, 0xff}, Status: status, CreatedAt: noon()}
	}
	var added atomic.Int32
	together(instances, func(i int) {
		err := s.AddSigningKey(ctx, key(fmt.Sprint("racer-", i), "ES256", schemas.KeySigning))
		if err == nil {
			added.Add(1)
		} else if !schemas.HasCode(err, "key_exists") {
			t.Errorf("%v, expected key_exists", err)
		}
	})
	wantEqual(t, "the number of keys that sign", int(added.Load()), 1)

	published := key("published", "ES256", schemas.KeyPublished)
	published.CreatedAt = noon().Add(time.Hour)
	must(t, s.AddSigningKey(ctx, published))
	must(t, s.AddSigningKey(ctx, key("rsa", "RS256", schemas.KeySigning)))
	keys, err := s.SigningKeys(ctx)
	must(t, err)
	wantEqual(t, "the number of keys", len(keys), 3)
	wantEqual(t, "the newest key", keys[2], published)
	wantEqual(t, "the private half", keys[0].Private, []byte{0, 0xff})
}

func newSeed() (store.Seed, schemas.User) {
	admin := newUser("admin")
	return store.Seed{
		Applications: []schemas.Application{newApplication("console", "CONSOLE")},
		Flows:        []schemas.Flow{newFlow(schemas.Authentication, "in")},
		Changes:      create(admin),
		Permissions:  map[string][]string{admin.ID: {"system", "audit"}},
	}, admin
}

func testSeed(t *testing.T, s *store.Store) {
	const instances = 8
	ctx := t.Context()
	var seeds [instances]store.Seed
	var admins [instances]schemas.User
	var seeded atomic.Int32
	winner := -1
	together(instances, func(i int) {
		seeds[i], admins[i] = newSeed()
		did, err := s.Seed(ctx, seeds[i])
		if err != nil {
			t.Error(err)
		}
		if did {
			seeded.Add(1)
			winner = i
		}
	})
	wantEqual(t, "the number of seedings", int(seeded.Load()), 1)
	wantOnly(t, s, admins[:], winner)
	permissions, err := s.Permissions(ctx, admins[winner].ID)
	must(t, err)
	wantEqual(t, "the permissions", permissions, []string{"audit", "system"})
	applications, err := s.Applications(ctx)
	must(t, err)
	wantEqual(t, "the applications", applications, seeds[winner].Applications)
	flows, err := s.Flows(ctx)
	must(t, err)
	wantEqual(t, "the flows", flows, seeds[winner].Flows)
}

func testSeedAtomic(t *testing.T, s *store.Store) {
	ctx := t.Context()
	seed, admin := newSeed()
	faulty := seed
	faulty.Permissions = map[string][]string{"nobody": {"system"}}
	did, err := s.Seed(ctx, faulty)
	wantError(t, err, schemas.NotFound, schemas.CodeUserNotFound)
	wantEqual(t, "whether it was seeded", did, false)
	wantOnly(t, s, []schemas.User{admin}, -1)
	did, err = s.Seed(ctx, seed)
	must(t, err)
	wantEqual(t, "whether it was seeded", did, true)
	wantOnly(t, s, []schemas.User{admin}, 0)
}

func testEvents(t *testing.T, s *store.Store) {
	ctx := t.Context()
	var want []schemas.Event
	for i := range 5 {
		e := schemas.Event{ID: schemas.NewID(), At: noon().Add(time.Duration(i/2) * time.Minute), Action: "passkey.registered",
			UserID: schemas.NewID(), ApplicationID: "app", ExecutionID: "run", TraceID: "trace"}
		if i%2 == 0 {
			e.Detail = map[string]string{"aaguid": fmt.Sprint(i)}
		}
		must(t, s.Apply(ctx, []schemas.Change{schemas.RecordEvent{Event: e}}))
		want = append([]schemas.Event{e}, want...)
	}
	got, err := s.Events(ctx, schemas.EventQuery{Limit: 3})
	must(t, err)
	wantEqual(t, "the newest events", got, want[:3])
	got, err = s.Events(ctx, schemas.EventQuery{Limit: 100})
	must(t, err)
	wantEqual(t, "all events", got, want)

	// Events without an id do not get into each other's way.
	nameless := schemas.RecordEvent{Event: schemas.Event{At: noon(), Action: "user.created"}}
	must(t, s.Apply(ctx, []schemas.Change{nameless, nameless}))
}

// testSweep has more expired rows than go into one transaction, and two
// instances sweeping at once.
func testSweep(t *testing.T, s *store.Store) {
	const expired = 1200
	ctx, deadline := t.Context(), noon().Add(time.Hour)
	live, last := newRun(), newRun()
	live.ExpiresAt = deadline.Add(time.Microsecond)
	last.ExpiresAt = deadline
	must(t, s.Commit(ctx, live, nil))
	must(t, s.Commit(ctx, last, nil))
	together(16, func(i int) {
		for range expired / 16 {
			if err := s.Commit(ctx, newRun(), nil); err != nil {
				t.Error(err)
			}
		}
	})
	dead, alive := newSession("dead", "dead"), newSession("alive", "alive")
	alive.ExpiresAt = deadline.Add(time.Hour)
	must(t, s.PutPasskeySession(ctx, dead))
	must(t, s.PutPasskeySession(ctx, alive))

	var removed atomic.Int32
	together(2, func(int) {
		n, err := s.Sweep(ctx, deadline)
		if err != nil {
			t.Error(err)
		}
		removed.Add(int32(n))
	})
	// What one of the two left because the other was at it, is gone as well.
	n, err := s.Sweep(ctx, deadline)
	must(t, err)
	wantEqual(t, "the number of rows swept", int(removed.Load())+n, expired+2)
	_, err = s.Run(ctx, live.ID)
	must(t, err)
	_, err = s.Run(ctx, last.ID)
	wantError(t, err, schemas.Invalid, schemas.CodeExecutionNotFound)
	_, err = s.TakePasskeySession(ctx, alive.TokenHash, noon())
	must(t, err)
}
