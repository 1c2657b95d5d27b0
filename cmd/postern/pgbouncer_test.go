package main

import (
	"testing"

	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// TestSignInBehindPgBouncer seeds a server behind a PgBouncer in transaction mode. Users sign up and sign
// in, and a client uses the API.
func TestSignInBehindPgBouncer(t *testing.T) {
	w := newTestApp(t, "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+storetest.PgBouncer(t))
	w.enrol("ada")
	s := w.authenticate(w.start(schemas.Authentication))
	if s.FlowStatus != schemas.Complete {
		t.Fatalf("the sign-in is %+v", s)
	}
	w.checkSession(s.Assertion)
	c := w.client("system:applications:read")
	if rec := w.askToken(c.ClientID, c.ClientSecret, ""); rec.Code != 200 {
		t.Errorf("the client gets no token: %d %s", rec.Code, rec.Body)
	}
}
