package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// TestOutdatedDocumentOfChangedClient has an administrator change a client whose metadata document must then
// be read again: the request that reads it must not assume that the client has not changed.
func TestOutdatedDocumentOfChangedClient(t *testing.T) {
	r := newRegistrars(t, "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+storetest.Postgres(t))
	p := r.document(t)
	request := p.at("/oauth2/authorize?" + p.request(pkce("scope", "openid")...).Encode())
	begins := func(when string) {
		t.Helper()
		rec := httptest.NewRecorder()
		r.testApp.http.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, request, nil))
		if to := rec.Header().Get("Location"); !strings.HasPrefix(to, p.at("/gate/signin?")) {
			t.Errorf("%s an authorization request is answered with %d to %q", when, rec.Code, to)
		}
	}
	begins("before the change")
	id := r.applicationOf(p.id)
	item, err := r.directory.Applications.Get(t.Context(), directory.SystemCall(), id)
	if err != nil {
		t.Fatal(err)
	}
	app := *item.Value.(*schemas.Application)
	app.Description = "changed"
	r.replace(r.directory.Applications, id, app)
	now := time.Now()
	outdated := schemas.ClientExpiry{ApplicationID: id, ExpiresAt: now.Add(time.Hour), FetchedAt: now.Add(-time.Hour), FreshUntil: now.Add(-time.Minute)}
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error { return store.PutClientExpiry(tx, outdated) }); err != nil {
		t.Fatal(err)
	}
	begins("after the change")
	begins("afterwards")
}
