package directory

import (
	"bytes"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// An instance does not use a cached client that another instance has changed.
func TestCachedClientIsCurrent(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		furnished(t, w)
		other := New(w.Options)
		const client = `{"name":"Machine","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"m2m","grantTypes":["client_credentials"],"scopes":["system"]}}]}`
		id := w.create(t, w.Applications, client)
		read := func() *schemas.Application {
			t.Helper()
			a, err := w.Client(t.Context(), "m2m")
			must(t, err)
			return a
		}
		before := read()
		if again := read(); again != before {
			t.Error("an unchanged client is read again")
		}
		_, err := other.RotateSecret(t.Context(), SystemCall(), id, SecretRotation{RevokeTokens: true})
		must(t, err)
		rotated := read()
		if bytes.Equal(rotated.OAuth().SecretHash, before.OAuth().SecretHash) {
			t.Error("the secret was rotated, and the old one still counts")
		}
		must(t, other.Applications.Delete(t.Context(), SystemCall(), id, ""))
		if _, err := w.Client(t.Context(), "m2m"); !schemas.HasCode(err, schemas.CodeAppNotFound) {
			t.Errorf("the client is gone: %v", err)
		}
		w.create(t, other.Applications, client)
		if again := read(); again.ID == id || bytes.Equal(again.OAuth().SecretHash, rotated.OAuth().SecretHash) {
			t.Error("another client of the same id is taken for the one before")
		}
	})
}

// A token can be requested for the identifier of a resource server in any spelling, which names the registered one.
func TestResourceSpellings(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		furnished(t, w)
		const registered = "https://shop.example.com"
		for identifier, want := range map[string]string{
			registered: registered, registered + "/": registered, "HTTPS://Shop.example.com": registered, registered + ":443": registered,
			registered + ":8443": "", registered + "/x": "", registered + "//": "", "http://shop.example.com": "", registered + "?": "", "shop": "", "": "", "x\x00": "",
		} {
			if got, err := w.Resource(t.Context(), identifier); err != nil || got != want {
				t.Errorf("%q: %q, %v", identifier, got, err)
			}
		}
		for identifier, fits := range map[string]bool{registered + "/": false, "https://SHOP.example.com:443": false, registered + "/v2": true} {
			_, err := w.ResourceServers.Create(t.Context(), SystemCall(), doc(t, object(t, "name", "API "+identifier, "handle", "api", "identifier", identifier)))
			if (err == nil) != fits {
				t.Errorf("%s: %v", identifier, err)
			}
		}
	})
}

// The cache is bounded.
func TestClientCacheIsBounded(t *testing.T) {
	var c cache[string, schemas.Application]
	for range 3 * maxClients {
		c.put(schemas.NewID(), &schemas.Application{}, maxClients)
	}
	if len(c.entries) > maxClients {
		t.Errorf("%d clients are cached", len(c.entries))
	}
}
