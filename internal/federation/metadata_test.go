package federation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/federation"
)

// A provider with incomplete metadata, or with that of another issuer, signs no user in.
func TestMetadata(t *testing.T) {
	for name, change := range map[string]func(map[string]any){
		"another issuer":          func(doc map[string]any) { doc["issuer"] = "https://evil.example" },
		"an issuer with a slash":  func(doc map[string]any) { doc["issuer"] = doc["issuer"].(string) + "/" },
		"an issuer in capitals":   func(doc map[string]any) { doc["issuer"] = strings.ToUpper(doc["issuer"].(string)) },
		"no issuer":               func(doc map[string]any) { delete(doc, "issuer") },
		"no authorization":        func(doc map[string]any) { delete(doc, "authorization_endpoint") },
		"a script":                func(doc map[string]any) { doc["authorization_endpoint"] = "javascript:alert(1)" },
		"a script with a host":    func(doc map[string]any) { doc["authorization_endpoint"] = "javascript://other.example.org/%0aalert(1)" },
		"a page of data":          func(doc map[string]any) { doc["authorization_endpoint"] = "data:text/html,x" },
		"plain http":              func(doc map[string]any) { doc["authorization_endpoint"] = "http://other.example.org/authorize" },
		"a user":                  func(doc map[string]any) { doc["authorization_endpoint"] = "https://other.example.org@evil.example/" },
		"a fragment":              func(doc map[string]any) { doc["authorization_endpoint"] = "https://other.example.org/#" },
		"a path alone":            func(doc map[string]any) { doc["token_endpoint"] = "/token" },
		"no keys":                 func(doc map[string]any) { delete(doc, "jwks_uri") },
		"keys that are no text":   func(doc map[string]any) { doc["jwks_uri"] = []string{"https://other.example.org/keys"} },
		"token endpoint, as file": func(doc map[string]any) { doc["token_endpoint"] = "file:///etc/passwd" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.provider.Document = change
			asked, err := w.client.Begin(t.Context(), w.settings, federation.Request{RedirectURI: callback, Now: w.now})
			if asked != nil {
				t.Errorf("asked %s", asked.URL)
			}
			fails(t, nil, err, federation.CheckMetadata)
		})
	}
}

// A provider that is down is retried after a pause, and its metadata is used for a day. The
// keys are fetched rarely, too.
func TestDown(t *testing.T) {
	w := newFixture(t)
	w.provider.Down = true
	try := func() error {
		_, err := w.client.Begin(t.Context(), w.settings, federation.Request{RedirectURI: callback, Now: w.now})
		return err
	}
	for range 5 {
		fails(t, nil, try(), federation.CheckReachable)
	}
	if len(w.provider.Asked) != 1 {
		t.Errorf("a provider that is down was asked %d times at once", len(w.provider.Asked))
	}
	w.now = w.now.Add(10 * time.Second)
	w.provider.Down = false
	if err := try(); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(2 * time.Hour)
	w.provider.Down = true
	if err := try(); err != nil {
		t.Errorf("what it said two hours ago does not do: %v", err)
	}
	w.now = w.now.Add(24 * time.Hour)
	fails(t, nil, try(), federation.CheckReachable)
}

// A provider may change its keys. Tokens of unknown keys do not cause unlimited requests to
// it.
func TestKeys(t *testing.T) {
	w := newFixture(t)
	for range 2 {
		asked := w.begin()
		if _, err := w.finish(asked, w.answer(asked, "")); err != nil {
			t.Fatal(err)
		}
		w.provider.Rotate()
	}
	for range 20 {
		asked := w.begin()
		id, err := w.finish(asked, w.answer(asked, "wrong-key"))
		fails(t, id, err, federation.CheckSignature)
	}
	fetched := 0
	for _, path := range w.provider.Asked {
		if path == "/keys" {
			fetched++
		}
	}
	if fetched != 3 {
		t.Errorf("the keys were fetched %d times", fetched)
	}
}
