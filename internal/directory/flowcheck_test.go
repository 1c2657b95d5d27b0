package directory_test

import (
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// A caller has four concurrent checks of flows, all callers have sixteen, and the program itself is not
// limited. A check that has ended leaves its place.
func TestConcurrentChecks(t *testing.T) {
	began, letGo := make(chan struct{}), make(chan struct{})
	d := directory.New(directory.Options{
		Store: storetest.OpenEmpty(t, store.Config{Driver: "sqlite", DSN: ":memory:"}),
		CheckFlow: func([]byte, bool, schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
			began <- struct{}{}
			<-letGo
			return nil, []schemas.Problem{{Message: "no flow"}}
		},
	})
	check := func(c directory.Call) error {
		_, _, err := d.CheckFlowText(t.Context(), c, []byte(`{}`), false)
		return err
	}
	as := func(id string) directory.Call {
		return directory.Call{Actor: schemas.Actor{Type: schemas.UserActor, ID: id}, Permissions: []string{"system"}}
	}
	var running sync.WaitGroup
	begin := func(c directory.Call) {
		running.Go(func() {
			if err := check(c); err != nil {
				t.Error(err)
			}
		})
		<-began
	}
	for _, id := range []string{"ann", "ben", "cem", "dan"} {
		for range 4 {
			begin(as(id))
		}
		if err := check(as(id)); !schemas.HasClass(err, schemas.Throttled) || schemas.AsError(err).RetryAfter != time.Second {
			t.Errorf("the fifth check of %s: %v", id, err)
		}
	}
	if err := check(as("eve")); !schemas.HasClass(err, schemas.Unavailable) || schemas.AsError(err).RetryAfter != time.Second {
		t.Errorf("the seventeenth check: %v", err)
	}
	begin(directory.SystemCall())
	close(letGo)
	running.Wait()
	begun := make(chan struct{})
	go func() { <-began; close(begun) }()
	if err := check(as("ann")); err != nil {
		t.Errorf("after all have ended: %v", err)
	}
	<-begun
}
