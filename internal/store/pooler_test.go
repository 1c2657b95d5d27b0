package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// TestPgBouncer runs the suite of all stores behind a PgBouncer in transaction mode, whose clients
// share three connections to PostgreSQL.
func TestPgBouncer(t *testing.T) {
	sequential(t) // TestPostgres has the same concurrency
	storetest.Run(t, func(t *testing.T) store.Config {
		return store.Config{Driver: "postgres", DSN: storetest.MigratedPgBouncer(t)}
	})
}

// TestPgBouncerMigrates creates a store behind a PgBouncer, from several instances at once.
func TestPgBouncerMigrates(t *testing.T) {
	c := store.Config{Driver: "postgres", DSN: storetest.PgBouncer(t), Pool: 4}
	opened := make(chan *store.Store)
	for range 3 {
		go func() {
			s, err := store.Open(t.Context(), c)
			if err != nil {
				t.Error(err)
			}
			opened <- s
		}()
	}
	for range 3 {
		if s := <-opened; s != nil {
			if s.PreparesStatements() {
				t.Error("statements are prepared behind a PgBouncer")
			}
			noError(t, s.Ping(t.Context()))
			noError(t, s.Close())
		}
	}
}

func TestPreparedStatements(t *testing.T) {
	direct, pooled := storetest.Postgres(t), storetest.MigratedPgBouncer(t)
	for _, test := range []struct {
		name, dsn, prepare string
		prepares           bool
	}{
		{"PostgreSQL", direct, "", true},
		{"PostgreSQL, auto", direct, store.PrepareAuto, true},
		{"PostgreSQL, on", direct, store.PrepareAlways, true},
		{"PostgreSQL, off", direct, store.PrepareNever, false},
		{"PgBouncer, auto", pooled, store.PrepareAuto, false},
		{"PgBouncer, off", pooled, store.PrepareNever, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.OpenEmpty(t, store.Config{Driver: "postgres", DSN: test.dsn, PreparedStatements: test.prepare, Pool: 4})
			equal(t, "whether statements are prepared", s.PreparesStatements(), test.prepares)
			for range 8 {
				noError(t, s.Apply(t.Context(), event()))
			}
		})
	}
}

// TestPreparedStatementsOnPgBouncer prepares statements behind a PgBouncer that does not keep them: the
// error explains what to configure. Callers that wait for a connection meanwhile get another one.
func TestPreparedStatementsOnPgBouncer(t *testing.T) {
	c := store.Config{Driver: "postgres", DSN: storetest.MigratedPgBouncer(t), PreparedStatements: store.PrepareAlways, Pool: 4}
	s, err := store.Open(t.Context(), c)
	if err == nil {
		defer s.Close()
		failed := make(chan error, 4)
		for range cap(failed) {
			go func() {
				var err error
				for i := 0; i < 200 && (err == nil || schemas.HasCode(err, schemas.CodeUserNotFound)); i++ {
					_, err = s.User(t.Context(), schemas.NewID())
				}
				failed <- err
			}()
		}
		for range cap(failed) {
			err = errors.Join(err, <-failed)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "database.prepared_statements") {
		t.Errorf("prepared statements behind a PgBouncer: %v", err)
	}
}
