package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// leased adds clients that registered themselves, each with a lease that ends a
// minute after that of the one before.
func leased(t *testing.T, s *store.Store, n int) (apps []schemas.Application) {
	t.Helper()
	update(t, s, func(tx *store.Tx) error {
		apps = nil
		for i := range n {
			a := newApplication(fmt.Sprint("leased", i), fmt.Sprint("leased-client", i))
			a.Registration = schemas.RegisteredDynamically
			apps = append(apps, a)
			must(t, store.Applications().Insert(tx, &a))
			must(t, store.PutClientExpiry(tx, leaseOf(a, i)))
		}
		return nil
	})
	return apps
}

func leaseOf(a schemas.Application, i int) schemas.ClientExpiry {
	return schemas.ClientExpiry{ApplicationID: a.ID, ExpiresAt: noon().Add(time.Duration(i+1) * time.Minute)}
}

// remaining counts the applications that are still there.
func remaining(t *testing.T, s *store.Store, apps []schemas.Application) (names []string) {
	t.Helper()
	for _, a := range apps {
		if found, err := store.Applications().Find(t.Context(), s, "clientId", a.ClientID); err != nil {
			t.Fatal(err)
		} else if found != nil {
			names = append(names, found.Name)
		}
	}
	return names
}

// testLeases checks that unused clients are removed and wanted ones stay.
func testLeases(t *testing.T, s *store.Store) {
	ctx := t.Context()
	apps := leased(t, s, 5)
	got := reply(s.ClientExpiry(ctx, apps[1].ClientID)).get(t)
	want := leaseOf(apps[1], 1)
	wantEqual(t, "the lease", got, &want)
	want.FetchedAt, want.FreshUntil = noon(), noon().Add(time.Hour)
	update(t, s, func(tx *store.Tx) error { return store.PutClientExpiry(tx, want) })
	reply(s.ClientExpiry(ctx, apps[1].ClientID)).equals(t, "the lease that was put", &want)
	for _, unknown := range []string{"nobody", "a\x00b"} {
		reply(s.ClientExpiry(ctx, unknown)).equals(t, "the lease of a client that is not there", (*schemas.ClientExpiry)(nil))
	}

	// One is vouched for, one has a role, and one is in use.
	vouched := apps[0]
	vouched.Verified, vouched.UpdatedAt = true, noon().Add(time.Second)
	role := schemas.Role{ID: schemas.NewID(), Name: "role", OUID: homeID, CreatedAt: noon(), UpdatedAt: noon(),
		Assignments: []schemas.Principal{{Type: schemas.ApplicationPrincipal, ID: apps[1].ID}}}
	update(t, s, func(tx *store.Tx) error {
		must(t, store.Roles().Insert(tx, &role))
		return store.Applications().Replace(tx, &vouched, noon())
	})
	must(t, s.ExtendClientExpiry(ctx, apps[2].ID, noon().Add(time.Hour)))
	must(t, s.ExtendClientExpiry(ctx, apps[2].ID, noon())) // takes nothing away
	reply(s.Sweep(ctx, noon().Add(4*time.Minute))).equals(t, "how many were swept", 1)
	wantEqual(t, "those that are left", remaining(t, s, apps), []string{"leased0", "leased1", "leased2", "leased4"})
	wantRemovals(t, s, noon().Add(4*time.Minute), apps[3])
}

// wantRemovals checks that the audit log records the removal of these clients, and of no others.
func wantRemovals(t *testing.T, s *store.Store, at time.Time, apps ...schemas.Application) {
	t.Helper()
	events := reply(s.Events(t.Context(), schemas.EventQuery{Limit: 100, Action: "application.deleted"})).get(t)
	reported := map[string]string{}
	for _, e := range events {
		if e.Actor.Type != schemas.SystemActor || e.Resource.Type != "application" || e.Detail["unused"] != "true" || !e.At.Equal(at) {
			t.Errorf("recorded %+v", e)
		}
		reported[e.Resource.ID] = e.Detail["clientId"]
	}
	want := map[string]string{}
	for _, a := range apps {
		want[a.ID] = a.ClientID
	}
	wantEqual(t, "the clients that were removed", reported, want)
}

// testUnusedClients removes self-registered clients to allow new ones.
func testUnusedClients(t *testing.T, s *store.Store) {
	apps := leased(t, s, 4)
	later := noon().Add(time.Hour)
	update(t, s, func(tx *store.Tx) error { return store.RemoveUnusedClients(tx, 5, later, noon()) })
	update(t, s, func(tx *store.Tx) error { return store.RemoveUnusedClients(tx, 2, noon().Add(2*time.Minute), noon()) }) // there is one
	wantEqual(t, "those that are left of few", remaining(t, s, apps), []string{"leased0", "leased1", "leased2", "leased3"})
	update(t, s, func(tx *store.Tx) error { return store.RemoveUnusedClients(tx, 3, later, noon()) })
	wantEqual(t, "those that are left of many", remaining(t, s, apps), []string{"leased2", "leased3"})
	wantRemovals(t, s, noon(), apps[:2]...)
}
