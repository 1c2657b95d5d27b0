package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// A PostgreSQL server that has become read-only makes the store not ready, and costs
// requests the class Unavailable. Once it takes writes again the next request has a
// connection that does too.
func TestReadOnlyPostgres(t *testing.T) {
	dsn, alter, disconnect := storetest.PostgresRole(t)
	s := storetest.Open(t, store.Config{Driver: "postgres", DSN: dsn, Pool: 4})
	must(t, s.Ping(t.Context()))
	// A transaction that says that it writes overrides this setting, so the writes here
	// are single statements. A standby refuses both with the same error.
	alter("SET default_transaction_read_only = on")
	disconnect()
	for i := range 8 { // the first of them find their connections ended
		if err := s.Ping(t.Context()); !schemas.HasClass(err, schemas.Unavailable) {
			t.Fatalf("ping %d on a read-only server: %v", i, err)
		}
		if err := put(t, s); !schemas.HasClass(err, schemas.Unavailable) || schemas.AsError(err).RetryAfter == 0 {
			t.Fatalf("write %d on a read-only server: %v", i, err)
		}
	}
	if _, err := s.User(t.Context(), schemas.NewID()); !schemas.HasCode(err, schemas.CodeUserNotFound) {
		t.Errorf("a read on a read-only server: %v", err)
	}
	alter("RESET default_transaction_read_only")
	for i := range 8 {
		if err := put(t, s); err != nil {
			t.Fatalf("write %d after the server takes writes again: %v", i, err)
		}
	}
	must(t, s.Ping(t.Context()))
}

// More requests than the server allows connections wait for those that there are.
func TestConnectionLimit(t *testing.T) {
	dsn, alter, _ := storetest.PostgresRole(t)
	alter("CONNECTION LIMIT 3")
	s := storetest.Open(t, store.Config{Driver: "postgres", DSN: dsn, Pool: 16})
	var all sync.WaitGroup
	failed := make(chan error, 64)
	for range cap(failed) {
		all.Go(func() {
			if err := s.Apply(t.Context(), event()); err != nil {
				failed <- err
			}
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
}

// The default size of the pool leaves connections to other instances, also where the
// server allows few.
func TestDefaultPool(t *testing.T) {
	dsn, alter, _ := storetest.PostgresRole(t)
	alter("CONNECTION LIMIT 60") // of the 100 that a server allows by default
	var stores [3]*store.Store
	for i := range stores {
		stores[i] = storetest.Open(t, store.Config{Driver: "postgres", DSN: dsn})
	}
	var all sync.WaitGroup
	for _, s := range stores {
		for range 60 {
			all.Go(func() {
				if err := s.Apply(t.Context(), event()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
}

// An unreachable server is an outage for a program that starts, too.
func TestUnreachablePostgres(t *testing.T) {
	for _, dsn := range []string{
		"postgres://postern:secret-word@127.0.0.1:1/postern?sslmode=disable",
		"host=127.0.0.1 port=1 user=postern password=secret-word dbname=postern sslmode=disable",
	} {
		for _, pool := range []int{0, 4} {
			s, err := store.Open(t.Context(), store.Config{Driver: "postgres", DSN: dsn, Pool: pool})
			if !schemas.HasClass(err, schemas.Unavailable) {
				t.Errorf("pool %d: opened as %v, %v", pool, s, err)
			}
		}
	}
}

// The table of instances has those that have the store open.
func TestInstances(t *testing.T) {
	for driver, c := range map[string]store.Config{"sqlite": file(t), "postgres": postgres(t)} {
		first, second := storetest.Open(t, c), storetest.Open(t, c)
		count := func(want int) {
			t.Helper()
			if n, err := first.Instances(t.Context()); err != nil || n != want {
				t.Errorf("%s: %d instances, %v; want %d", driver, n, err, want)
			}
		}
		count(0)
		must(t, first.Ping(t.Context()))
		must(t, second.Ping(t.Context()))
		must(t, first.Ping(t.Context()))
		count(2)
		must(t, second.Close())
		count(1)
	}
}

// put writes by a single statement.
func put(t *testing.T, s *store.Store) error {
	return s.PutPasskeySession(t.Context(), schemas.PasskeySession{Owner: schemas.NewID(), Ceremony: schemas.AuthenticationCeremony,
		TokenHash: []byte(schemas.NewID()), State: []byte("{}"), ExpiresAt: time.Now().Add(time.Minute)})
}

func event() []schemas.Change {
	return []schemas.Change{schemas.RecordEvent{Event: schemas.Event{ID: schemas.NewID(), At: time.Now(), Action: "test.done"}}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(fmt.Errorf("%w", err))
	}
}
