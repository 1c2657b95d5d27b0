package store_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// Two instances that change the system and then the same row, in the other order, do not wait for each other.
func TestSystemChangesDoNotDeadlock(t *testing.T) {
	dsn, log := storetest.LoggedPostgres(t)
	one, two := storetest.OpenEmpty(t, store.Config{Driver: "postgres", DSN: dsn}), storetest.OpenEmpty(t, store.Config{Driver: "postgres", DSN: dsn})
	now := time.Now().UTC().Truncate(time.Microsecond)
	unit := schemas.OrganizationUnit{ID: schemas.NewID(), Handle: "shared", Name: "Shared", CreatedAt: now, UpdatedAt: now}
	if err := one.Update(t.Context(), func(tx *store.Tx) error { return store.Units().Insert(tx, &unit) }); err != nil {
		t.Fatal(err)
	}
	touch := func(tx *store.Tx) error {
		u, err := store.Units().Get(t.Context(), tx, unit.ID)
		if err != nil {
			return err
		}
		was := u.UpdatedAt
		u.UpdatedAt = was.Add(time.Microsecond)
		return store.Units().Replace(tx, u, was)
	}
	log.Next(t)
	changed, touched := make(chan bool), make(chan bool)
	var first, second, third sync.Once
	var both sync.WaitGroup
	both.Go(func() {
		err := one.Update(t.Context(), func(tx *store.Tx) error {
			store.CountSystemChange(tx)
			first.Do(func() { close(changed); <-touched })
			return touch(tx)
		})
		if err != nil {
			t.Error(err)
		}
	})
	both.Go(func() {
		err := two.Update(t.Context(), func(tx *store.Tx) error {
			second.Do(func() { <-changed })
			if err := touch(tx); err != nil {
				return err
			}
			third.Do(func() { close(touched) })
			store.CountSystemChange(tx)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	both.Wait()
	_, failed := log.Next(t)
	for _, message := range failed {
		if strings.Contains(message, "deadlock") {
			t.Errorf("PostgreSQL reports %s", message)
		}
	}
}
