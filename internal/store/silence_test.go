package store_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// waitForPing waits until a store works.
func waitForPing(t *testing.T, s *store.Store) {
	t.Helper()
	for s.Ping(t.Context()) != nil {
		time.Sleep(10 * time.Millisecond)
	}
}

// While the network loses all packets, every statement ends with an error of an outage, and no connection is
// opened. Then the store works again.
func TestSilentPostgres(t *testing.T) {
	t.Parallel()
	dsn, network := storetest.PostgresOverNetwork(t)
	s := storetest.Open(t, store.Config{Driver: "postgres", DSN: dsn, Pool: 4})
	must(t, s.Ping(t.Context()))
	network.Drop()
	var all sync.WaitGroup
	for _, statement := range []func() error{
		func() error { return s.Ping(t.Context()) },
		func() error { return put(t, s) },
		func() error { return s.Apply(t.Context(), event()) },
		func() error { _, err := s.User(t.Context(), schemas.NewID()); return err },
		func() error {
			return s.Snapshot(t.Context(), func(r store.Reader) error { _, err := store.Users().Get(t.Context(), r, "x"); return err })
		},
	} {
		for range 4 { // more than there are connections
			all.Go(func() {
				if err := statement(); !schemas.HasClass(err, schemas.Unavailable) {
					t.Errorf("a statement without a reply: %v", err)
				}
			})
		}
	}
	all.Wait()
	if err := s.Ping(t.Context()); !schemas.HasClass(err, schemas.Unavailable) {
		t.Errorf("a statement while the server is silent: %v", err)
	}
	network.Restore()
	waitForPing(t, s)
	must(t, put(t, s))
}

// A statement whose own connection is lost ends with its context. Other connections are not affected.
func TestSilentConnection(t *testing.T) {
	t.Parallel()
	dsn, network := storetest.PostgresOverNetwork(t)
	s := storetest.Open(t, store.Config{Driver: "postgres", DSN: dsn, Pool: 2, MaxWriteDuration: time.Second})
	must(t, s.Ping(t.Context()))
	network.DropOpen()
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := time.AfterFunc(100*time.Millisecond, cancel)
	defer cancelled.Stop()
	if _, err := s.User(ctx, schemas.NewID()); err == nil || schemas.HasCode(err, schemas.CodeUserNotFound) {
		t.Errorf("a read on a lost connection: %v", err)
	}
	waitForPing(t, s)
}

// A statement may take longer than a silent server would be waited for.
func TestLongStatement(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Config{Driver: "postgres", DSN: storetest.Postgres(t)})
	n, err := store.Counting("SELECT COUNT(*) FROM (SELECT pg_sleep(5)) AS waited")(t.Context(), s)
	if err != nil || n != 1 {
		t.Errorf("counted %d, %v", n, err)
	}
}

// Of several hosts, the first one that is reached is used: one that refuses connections and one that is silent are
// passed over, also when the store asks whether the server answers, and after the used one has failed.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	dsn, network := storetest.PostgresOverNetwork(t)
	_, silent := storetest.PostgresOverNetwork(t)
	silent.Drop()
	both := strings.NewReplacer(" host=127.0.0.1 port=", " host=127.0.0.1,[::ffff:127.0.0.1],127.0.0.1 port=1,"+silent.Port()+",").Replace(dsn)
	if both == dsn {
		t.Fatalf("unexpected connection string %q", dsn)
	}
	s := storetest.Open(t, store.Config{Driver: "postgres", DSN: both, Pool: 2})
	must(t, put(t, s))
	network.Drop()
	if err := s.Ping(t.Context()); !schemas.HasClass(err, schemas.Unavailable) {
		t.Errorf("a statement while all are silent: %v", err)
	}
	network.Restore()
	waitForPing(t, s)
	must(t, put(t, s))
}
