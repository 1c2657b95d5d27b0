package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// count adds 1 to the number in the description of a unit, as an update that depends on what it reads.
func count(ctx context.Context, s *store.Store, id string) error {
	return s.Update(ctx, func(tx *store.Tx) error {
		unit, err := store.Units().Get(ctx, tx, id)
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(unit.Description)
		was := unit.UpdatedAt
		unit.Description, unit.UpdatedAt = strconv.Itoa(n+1), was.Add(time.Microsecond)
		return store.Units().Replace(tx, unit, was)
	})
}

func addUnit(t *testing.T, s *store.Store) (id string) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	unit := schemas.OrganizationUnit{ID: schemas.NewID(), Handle: "counted", Name: "Counted", CreatedAt: now, UpdatedAt: now}
	noError(t, s.Update(t.Context(), func(tx *store.Tx) error { return store.Units().Insert(tx, &unit) }))
	return unit.ID
}

// TestUpdatesOfInstances has instances change the same row, each as it read it: no update is lost, and
// none fails.
func TestUpdatesOfInstances(t *testing.T) {
	const instances, each = 4, 40
	c := postgres(t)
	c.Pool = 4
	id := addUnit(t, storetest.OpenEmpty(t, c))
	var all sync.WaitGroup
	for range instances {
		s := storetest.OpenEmpty(t, c)
		all.Go(func() {
			for range each {
				if err := count(t.Context(), s, id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	unit, err := store.Units().Get(t.Context(), storetest.OpenEmpty(t, c), id)
	noError(t, err)
	equal(t, "the count", unit.Description, strconv.Itoa(instances*each))
}

// TestWriteSkew has two instances do what each of them alone may: both read that there is no unit with
// one of two handles, and each adds one. One of them must see the unit of the other.
func TestWriteSkew(t *testing.T) {
	c := postgres(t)
	c.Pool = 4
	one, two := storetest.OpenEmpty(t, c), storetest.OpenEmpty(t, c)
	for round := range 8 {
		handles := []string{fmt.Sprintf("left-%d", round), fmt.Sprintf("right-%d", round)}
		var read sync.WaitGroup // until both have read in their first attempts
		read.Add(2)
		var all sync.WaitGroup
		for i, s := range []*store.Store{one, two} {
			first := sync.OnceFunc(func() { read.Done(); read.Wait() })
			all.Go(func() {
				noErrorIn(t, s.Update(t.Context(), func(tx *store.Tx) error {
					other, err := store.Units().Find(t.Context(), tx, "handle", handles[1-i])
					if err != nil {
						return err
					}
					first()
					if other != nil {
						return nil
					}
					now := time.Now().UTC().Truncate(time.Microsecond)
					return store.Units().Insert(tx, &schemas.OrganizationUnit{ID: schemas.NewID(), Handle: handles[i], Name: handles[i], CreatedAt: now, UpdatedAt: now})
				}))
			})
		}
		all.Wait()
		n := 0
		for _, handle := range handles {
			found, err := store.Units().Find(t.Context(), one, "handle", handle)
			noError(t, err)
			if found != nil {
				n++
			}
		}
		equal(t, "the number of units", n, 1)
	}
}

func noErrorIn(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

// TestLongUpdate has other updates overtake an update in each attempt that does not lock them out. It
// succeeds all the same.
func TestLongUpdate(t *testing.T) {
	c := postgres(t)
	c.Pool = 4
	s := storetest.OpenEmpty(t, c)
	id := addUnit(t, s)
	other := storetest.OpenEmpty(t, c)
	attempts := 0
	noError(t, s.Update(t.Context(), func(tx *store.Tx) error {
		unit, err := store.Units().Get(t.Context(), tx, id)
		if err != nil {
			return err
		}
		attempts++
		if attempts <= 4 { // later ones lock out the other instance
			noErrorIn(t, count(t.Context(), other, id))
		}
		was := unit.UpdatedAt
		unit.Name, unit.UpdatedAt = "Long", was.Add(time.Microsecond)
		return store.Units().Replace(tx, unit, was)
	}))
	equal(t, "the number of attempts", attempts, 5)
	unit, err := store.Units().Get(t.Context(), s, id)
	noError(t, err)
	equal(t, "the unit", []string{unit.Name, unit.Description}, []string{"Long", "4"})
}

// TestSerializableDefault runs instances on a database where all transactions are serializable, as in
// CockroachDB: writes that lose a conflict are tried again.
func TestSerializableDefault(t *testing.T) {
	dsn, alter, _ := storetest.PostgresRole(t)
	alter("SET default_transaction_isolation = 'serializable'")
	c := store.Config{Driver: "postgres", DSN: dsn, Pool: 4}
	var all sync.WaitGroup
	for range 3 {
		s := storetest.Open(t, c)
		for i := range 4 {
			all.Go(func() {
				for range 15 {
					noErrorIn(t, s.Apply(t.Context(), event()))
					if i == 0 { // each instance has one sealer
						_, err := s.EventChain(make([]byte, 32)).Seal(t.Context())
						noErrorIn(t, err)
					}
					_, err := s.Events(t.Context(), schemas.EventQuery{Limit: 10})
					noErrorIn(t, err)
				}
			})
		}
	}
	all.Wait()
	s := storetest.Open(t, c)
	verified, err := s.Events(t.Context(), schemas.EventQuery{Limit: 1000, Action: "test.done"})
	noError(t, err)
	equal(t, "the number of events", len(verified), 3*4*15)
}

// TestGiveUpConflicts has a write lose a conflict in each attempt: it ends with the conflict.
func TestGiveUpConflicts(t *testing.T) {
	s := storetest.OpenEmpty(t, postgres(t))
	attempts := 0
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		attempts++
		return fmt.Errorf("made up: %w", conflict())
	})
	if err == nil || !strings.Contains(err.Error(), "made up") || attempts < 5 || attempts > 100 {
		t.Errorf("after %d attempts: %v", attempts, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	err = s.Update(ended, func(*store.Tx) error { cancel(); return conflict() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an update whose caller gave up: %v", err)
	}
}

// conflict returns the error of a serialization failure, as CockroachDB reports it.
func conflict() error {
	return &pq.Error{Code: pqerror.TRSerializationFailure, Message: "restart transaction: TransactionRetryWithProtoRefreshError"}
}

// TestSerialWriteDoesNotWait has another transaction hold the row that all serial writes change. A write that
// has changed other rows begins again instead of waiting for it: the other may wait for those rows.
func TestSerialWriteDoesNotWait(t *testing.T) {
	c := postgres(t)
	s := storetest.OpenEmpty(t, c)
	db, err := sql.Open("postgres", c.DSN)
	noError(t, err)
	defer db.Close()
	other, err := db.BeginTx(t.Context(), nil)
	noError(t, err)
	_, err = other.Exec("UPDATE store_state SET value = value WHERE name = 'updates'")
	noError(t, err)
	attempts, again := 0, make(chan struct{})
	done := make(chan error)
	go func() {
		done <- s.Update(t.Context(), func(tx *store.Tx) error {
			if attempts++; attempts == 2 {
				close(again)
			}
			now := time.Now().UTC()
			return store.Units().Insert(tx, &schemas.OrganizationUnit{ID: schemas.NewID(), Handle: "a", Name: "a", CreatedAt: now, UpdatedAt: now})
		})
	}()
	<-again
	noError(t, other.Commit())
	noError(t, <-done)
}
