package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// After a change of the public hostname, users sign in with the passkeys of the former one: if the relying party
// id is a parent domain of both, or with related origins. The console can sign in at the new address, and tokens of
// the former issuer end.
func TestChangeOfThePublicHostname(t *testing.T) {
	for name, test := range map[string]struct{ former, now []string }{
		"a common parent domain": {
			[]string{"POSTERN_SERVER_PUBLIC_URL=https://login.example.com", "POSTERN_PASSKEY_RELYING_PARTY_ID=example.com"},
			[]string{"POSTERN_SERVER_PUBLIC_URL=https://id.example.com", "POSTERN_PASSKEY_RELYING_PARTY_ID=example.com"}},
		"another site": {
			[]string{"POSTERN_SERVER_PUBLIC_URL=https://login.example.com"},
			[]string{"POSTERN_SERVER_PUBLIC_URL=https://id.example.org", "POSTERN_PASSKEY_RELYING_PARTY_ID=login.example.com",
				"POSTERN_PASSKEY_ALLOWED_ORIGINS=https://id.example.org,https://login.example.com", "POSTERN_PASSKEY_RELATED_ORIGINS=https://id.example.org"}},
	} {
		for _, driver := range []string{"sqlite", "postgres"} {
			t.Run(name+" "+driver, func(t *testing.T) {
				environ := testEnvironment(t.TempDir())
				if driver == "postgres" {
					sequential(t)
					environ = append(environ, "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+storetest.Postgres(t))
				}
				changeHostname(t, slices.Concat(environ, test.former), slices.Concat(environ, test.now))
			})
		}
	}
}

func changeHostname(t *testing.T, former, now []string) {
	w := newTestAppIn(t, former)
	w.enrol("ada")
	was := w.authenticate(w.start(schemas.Authentication))
	ada := w.claimsOf(was.Assertion).Subject
	w.close()
	moved := newTestAppIn(t, now)
	_, output := runProgram(t, now, "doctor", "--json")
	if !strings.Contains(output, "but this store was used at other addresses, with the console at "+w.cfg.Server.PublicURL+"/console") {
		t.Errorf("doctor before the first start: %s", output)
	}
	for range 2 { // the second start changes nothing
		if err := bootstrap.Refresh(t.Context(), moved.directory, moved.cfg.Server.PublicURL); err != nil {
			t.Fatal(err)
		}
	}
	console, err := moved.store.ApplicationByClientID(t.Context(), "CONSOLE")
	at := moved.cfg.Server.PublicURL + "/console"
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(console.OAuth().RedirectURIs, []string{w.cfg.Server.PublicURL + "/console", at}) || console.URL != at {
		t.Errorf("the console: %v %+v", console.URL, console.OAuth().RedirectURIs)
	}
	if _, output := runProgram(t, now, "doctor", "--json"); strings.Contains(output, "other addresses") {
		t.Errorf("doctor after the first start: %s", output)
	}
	if got := moved.get("/users/me/profile", was.Assertion); got != http.StatusUnauthorized {
		t.Errorf("an assertion of the former issuer: %d", got)
	}
	moved.device = w.device
	if claims := moved.claimsOf(moved.authenticate(moved.start(schemas.Authentication)).Assertion); claims.Subject != ada {
		t.Errorf("signed in as %+v, want %s", claims, ada)
	}
}
