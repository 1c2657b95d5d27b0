package main

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// unknownNetworkLimit is how many wrong passwords in a row unknown networks may try at one name.
const unknownNetworkLimit = 22

// newGuessingTest is an instance on a store that others may share, with cheap hashes.
func newGuessingTest(t *testing.T, environ ...string) *testApp {
	return newTestApp(t, append([]string{"POSTERN_THROTTLE_ENABLED=true", "POSTERN_PASSWORD_MEMORY_KIB=1024", "POSTERN_PASSWORD_ITERATIONS=1",
		"POSTERN_PASSWORD_QUEUE=1000"}, environ...)...)
}

// answered makes wrong guesses at a name from a number of networks, and returns how many
// were answered.
func (w *testApp) answered(name string, networks int) (n int) {
	for i := range networks {
		if status, _ := w.guess(fmt.Sprintf("203.0.%d.1", i), name, "wrong"); status == http.StatusOK {
			n++
		}
	}
	return n
}

// Finding 11 of the security audit of November 2026: counts of failed guesses survive a
// restart, at existing and unknown names alike, and neither the owner's browser nor an
// administrator is locked out.
func TestAudit11FailuresOutliveARestart(t *testing.T) {
	sequential(t)
	data := "POSTERN_DATA_DIR=" + t.TempDir()
	w := newGuessingTest(t, data)
	token := w.admin() // issuing one starts a session, which resets the count
	owner := &guesser{testApp: w, remote: "198.51.100.7"}
	if status, s := owner.guess("admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete {
		t.Fatalf("%d %+v", status, s)
	}
	for _, name := range []string{"admin", "nobody"} {
		if n := w.answered(name, unknownNetworkLimit+10); n != unknownNetworkLimit {
			t.Errorf("%s: %d guesses were answered, want %d", name, n, unknownNetworkLimit)
		}
	}
	w = newGuessingTest(t, data) // expectAs after a restart: memory is empty
	for _, name := range []string{"admin", "nobody"} {
		if n := w.answered(name, 3); n != 0 {
			t.Errorf("%s: %d guesses were answered after a restart", name, n)
		}
	}
	if status, _ := w.guess("192.0.2.1", "admin", adminPassword); status != http.StatusTooManyRequests {
		t.Errorf("a right guess of an unknown network: %d", status)
	}
	events, err := w.store.Events(t.Context(), schemas.EventQuery{Limit: 9, Action: "guesses.exhausted"})
	if err != nil || len(events) != 1 || events[0].UserID == "" || events[0].Detail["by"] != "unknown networks" || events[0].ExecutionDigest == "" {
		t.Fatalf("events %+v, %v", events, err)
	}
	id := events[0].UserID
	owner.testApp = w
	if status, s := owner.guess("admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete {
		t.Errorf("the owner's browser is locked out: %d %+v", status, s)
	}
	if n := w.answered("admin", unknownNetworkLimit+10); n != unknownNetworkLimit {
		t.Errorf("after the owner signed in %d guesses were answered, want %d", n, unknownNetworkLimit)
	}
	if rec := w.call("DELETE", "/users/"+id+"/failed-guesses", token, ""); rec.Code != http.StatusNoContent {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if status, s := w.guess("192.0.2.2", "admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete {
		t.Errorf("after an administrator allowed more: %d %+v", status, s)
	}
}

// Two instances on one database answer together as many as one would.
func TestAudit11InstancesCountTogether(t *testing.T) {
	environ := []string{"POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN=" + storetest.Postgres(t), "POSTERN_DATA_DIR=" + t.TempDir()}
	instances := []*testApp{newGuessingTest(t, environ...), newGuessingTest(t, environ...)}
	var guesses sync.WaitGroup
	var answered atomic.Int32
	for i := range 4 * unknownNetworkLimit {
		guesses.Go(func() {
			if status, _ := instances[i%2].guess(fmt.Sprintf("203.0.%d.1", i), "admin", "wrong"); status == http.StatusOK {
				answered.Add(1)
			}
		})
	}
	guesses.Wait()
	if n := answered.Load(); n != unknownNetworkLimit {
		t.Errorf("%d guesses were answered, want %d", n, unknownNetworkLimit)
	}
}
