package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// TestSignInStatements has the statements of a sign-in with each credential.
func TestSignInStatements(t *testing.T) { storetest.SignInStatements(t) }

// TestAbandonedWrites: a write whose caller gives up while it waits for a connection changes nothing, in
// each way in which a write is sent.
func TestAbandonedWrites(t *testing.T) {
	for name, write := range map[string]func(context.Context, *store.Store) error{
		"one statement without a transaction": func(ctx context.Context, s *store.Store) error { return s.Apply(ctx, event()) },
		"a batch":                             func(ctx context.Context, s *store.Store) error { return s.Apply(ctx, append(event(), event()...)) },
		"a transaction": func(ctx context.Context, s *store.Store) error {
			return s.Update(ctx, func(tx *store.Tx) error { return tx.Apply(event()) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := postgres(t)
			c.Pool = 2
			s := storetest.Open(t, c)
			free := occupy(t, s, c.Pool)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			before := s.Stats().Write.WaitCount
			go func() { done <- write(ctx, s) }()
			for s.Stats().Write.WaitCount == before { // it waits for a connection
				time.Sleep(time.Millisecond)
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("the write: %v, want canceled", err)
			}
			free()
			recorded, err := s.Events(t.Context(), schemas.EventQuery{Limit: 10, Action: "test.done"})
			noError(t, err)
			equal(t, "the number of events", len(recorded), 0)
		})
	}
}

// TestUnsupportedBatch: what a database does not support as one statement is written as a transaction.
// PostgreSQL has no FOR SHARE of a count; CockroachDB no statement that changes a table twice.
func TestUnsupportedBatch(t *testing.T) {
	s := storetest.Open(t, postgres(t))
	noError(t, s.WriteAsBatch(t.Context(), event(), `SELECT COUNT(*) FROM users FOR SHARE`))
	recorded, err := s.Events(t.Context(), schemas.EventQuery{Limit: 10, Action: "test.done"})
	noError(t, err)
	equal(t, "the number of events", len(recorded), 1)
	err = s.WriteAsBatch(t.Context(), event(), `SELECT no_such_column FROM users`)
	if err == nil {
		t.Error("a statement with another error is run again as a transaction")
	}
}

// occupy uses connections of a store until the returned function is called.
func occupy(t *testing.T, s *store.Store, connections int) (free func()) {
	blocked, used, done := make(chan struct{}), make(chan struct{}, connections), make(chan struct{}, connections)
	for range connections {
		go func() {
			_ = s.Snapshot(t.Context(), func(store.Reader) error {
				used <- struct{}{}
				<-blocked
				return nil
			})
			done <- struct{}{}
		}()
	}
	for range connections {
		<-used
	}
	return func() {
		close(blocked)
		for range connections {
			<-done
		}
	}
}
