package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// TestAssumedClient changes a client that has a metadata document between authorization requests, which
// assume that it has not changed: see Store.Assume. Each request has its effects once, whether or not the
// document must be read again.
func TestAssumedClient(t *testing.T) {
	r := newRegistrars(t, "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+storetest.Postgres(t))
	p := r.document(t)
	r.beginsOnce(p, "the first request")
	r.beginsOnce(p, "a request that assumes the client")
	id := r.applicationOf(p.id)
	r.describe(id, "changed")
	r.beginsOnce(p, "a request after a change")
	r.describe(id, "changed again")
	now := time.Now()
	outdated := schemas.ClientExpiry{ApplicationID: id, ExpiresAt: now.Add(time.Hour), FetchedAt: now.Add(-time.Hour), FreshUntil: now.Add(-time.Minute)}
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error { return store.PutClientExpiry(tx, outdated) }); err != nil {
		t.Fatal(err)
	}
	r.beginsOnce(p, "a request after a change that reads the document")
	if err := r.directory.Applications.Delete(t.Context(), directory.SystemCall(), id, ""); err != nil {
		t.Fatal(err)
	}
	r.beginsOnce(p, "a request of a deleted client, which is registered again")
}

// beginsOnce sends an authorization request in a new browser, which starts one run and sets one cookie.
func (r *registrars) beginsOnce(p *party, name string) {
	r.t.Helper()
	before := r.unfinished()
	rec := r.testApp.exchange(http.MethodGet, p.at("/oauth2/authorize?"+p.request(pkce()...).Encode()), "")
	if to := rec.Header().Get("Location"); !strings.HasPrefix(to, p.at("/gate/signin?")) {
		r.t.Errorf("%s is answered with %d to %q", name, rec.Code, to)
	}
	if cookies := rec.Header()["Set-Cookie"]; len(cookies) != 1 {
		r.t.Errorf("%s sets the cookies %q", name, cookies)
	}
	after := r.unfinished()
	if after.Runs != before.Runs+1 || after.AuthRequests != before.AuthRequests+1 {
		r.t.Errorf("%s changes the numbers of unfinished sign-ins from %+v to %+v", name, before, after)
	}
}

func (r *registrars) unfinished() store.Pending {
	r.t.Helper()
	n, err := r.store.CountPending(r.t.Context(), time.Now(), store.Pending{Runs: 100, AuthRequests: 100, PasskeySessions: 100})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// describe changes the description of an application.
func (r *registrars) describe(id, description string) {
	r.t.Helper()
	item, err := r.directory.Applications.Get(r.t.Context(), directory.SystemCall(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	app := *item.Value.(*schemas.Application)
	app.Description = description
	r.replace(r.directory.Applications, id, app)
}
