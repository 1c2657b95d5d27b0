package main

import (
	"bytes"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// TestKeysRotateUnderLoad has two instances with one database issue tokens and verify each
// other's while keys are published, promoted and removed. Each reads the keys some time
// after the other has changed them.
func TestKeysRotateUnderLoad(t *testing.T) {
	for name, where := range map[string]func() store.Config{
		"sqlite": func() store.Config {
			return store.Config{Driver: "sqlite", DSN: filepath.Join(t.TempDir(), "postern.db")}
		},
		"postgres": func() store.Config { return store.Config{Driver: "postgres", DSN: storetest.Postgres(t)} },
	} {
		t.Run(name, func(t *testing.T) { testKeysRotate(t, where()) })
	}
}

// keyTestApps is two instances with one clock.
type keyTestApps struct {
	t         *testing.T
	passed    atomic.Int64
	instances [2]*token.Issuer
	stores    [2]*store.Store
}

func newKeyTestApps(t *testing.T, c store.Config) *keyTestApps {
	r := &keyTestApps{t: t}
	for n := range r.instances {
		var err error
		if r.stores[n], err = store.Open(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.stores[n].Close() })
		r.instances[n], err = token.New(t.Context(), r.stores[n], bytes.Repeat([]byte{1}, 32), token.Options{
			Issuer: "https://localhost", Now: func() time.Time { return time.Unix(1e9, r.passed.Load()) },
			KeyPublish: time.Hour, KeyAge: 24 * time.Hour, AccessTTL: 100 * time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// use issues tokens on one instance and verifies them on the other.
func (r *keyTestApps) use(n int) {
	here, there := r.instances[n], r.instances[1-n]
	access, err := here.Access(r.t.Context(), token.Claims{Subject: "ann", ClientID: "console", Audience: []string{"api"}})
	if err == nil {
		_, err = there.Verify(r.t.Context(), access, "api")
	}
	if err != nil {
		r.t.Errorf("an access token: %v", err)
	}
	id, err := here.IDToken(r.t.Context(), token.Claims{Subject: "ann", ClientID: "console", AccessToken: access})
	if err == nil {
		_, err = there.VerifyIDToken(r.t.Context(), id)
	}
	if err != nil {
		r.t.Errorf("an ID token: %v", err)
	}
}

func testKeysRotate(t *testing.T, c store.Config) {
	r := newKeyTestApps(t, c)
	var stop atomic.Bool
	var used [2]atomic.Int64
	var done sync.WaitGroup
	for n := range used {
		done.Go(func() {
			for !stop.Load() {
				r.use(n)
				used[n].Add(1)
			}
		})
	}
	settle := func() { // until each has run for a while
		for n := range used {
			for want := used[n].Load() + 5; used[n].Load() < want; {
				time.Sleep(time.Millisecond)
			}
		}
	}
	tend := func(n int) {
		if err := r.instances[n].MaintainKeys(t.Context()); err != nil {
			t.Error(err)
		}
		settle()
	}
	tend(0)
	for range 2 {
		for _, hours := range []time.Duration{23, 1} {
			r.passed.Add(int64(hours * time.Hour))
			tend(0)
			tend(1)
		}
	}
	stop.Store(true)
	done.Wait()
	r.passed.Add(int64(60 * 24 * time.Hour))
	var together sync.WaitGroup
	for _, i := range r.instances {
		together.Go(func() {
			if err := i.MaintainKeys(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
	r.wantEvents(map[string]int{"signing-key.published": 6, "signing-key.promoted": 4, "signing-key.removed": 4})
}

// wantEvents counts events: each transition of a key has one.
func (r *keyTestApps) wantEvents(want map[string]int) {
	for action, n := range want {
		events, err := r.stores[0].Events(r.t.Context(), schemas.EventQuery{Action: action, Limit: 100})
		if err != nil {
			r.t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, e := range events {
			seen[e.Resource.ID] = true
		}
		if len(events) != n || len(seen) != n {
			r.t.Errorf("%d events %s about %d keys, expected %d about as many", len(events), action, len(seen), n)
		}
	}
}
