package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testSerial runs many transactions that depend on their reads: each sees the writes of the earlier
// ones, and none fails because of the others.
func testSerial(t *testing.T, s *store.Store) {
	const callers, each, capacity = 24, 5, 10
	together(callers, func(i int) {
		for n := range each {
			err := s.Update(t.Context(), func(tx *store.Tx) error {
				home, err := store.Units().Get(t.Context(), tx, homeID)
				if err != nil {
					return err
				}
				count, _ := strconv.Atoi(home.Description)
				was := home.UpdatedAt
				home.Description, home.UpdatedAt = strconv.Itoa(count+1), was.Add(time.Microsecond)
				return store.Units().Replace(tx, home, was)
			})
			if err == nil {
				err = s.Update(t.Context(), func(tx *store.Tx) error {
					return joinGroup(t.Context(), tx, fmt.Sprintf("member %d-%d", i, n), capacity)
				})
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	wantEqual(t, "the count", reply(store.Units().Get(t.Context(), s, homeID)).get(t).Description, strconv.Itoa(callers*each))
	reply(store.Groups().Count(t.Context(), s, store.Page{})).equals(t, "the number of groups", capacity)
}

// joinGroup adds a group unless the limit is reached.
func joinGroup(ctx context.Context, tx *store.Tx, name string, capacity int) error {
	n, err := store.Groups().Count(ctx, tx, store.Page{})
	if err != nil || n >= capacity {
		return err
	}
	g := schemas.Group{ID: schemas.NewID(), Name: name, OUID: homeID, CreatedAt: noon(), UpdatedAt: noon()}
	return store.Groups().Insert(tx, &g)
}

// testSerialWaits cancels a transaction that waits for another one.
func testSerialWaits(t *testing.T, s *store.Store) {
	running, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- s.Update(t.Context(), func(*store.Tx) error {
			close(running)
			<-release
			return nil
		})
	}()
	<-running
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Update(gone, func(*store.Tx) error {
		t.Error("two transactions ran at once")
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up was answered with %v", err)
	}
	close(release)
	must(t, <-done)
}
