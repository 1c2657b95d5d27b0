package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Browsers receive the origins that the operator has listed for the relying party, and none
// that only an application lists.
func TestRelatedOriginsAreConfigured(t *testing.T) {
	const own, related = "https://localhost:8090", "https://shop.example.net"
	w := newTestApp(t, "POSTERN_PASSKEY_RELATED_ORIGINS="+related)
	w.create(w.directory.Applications, `{"name": "Mine", "passkeyAllowedOrigins": ["https://evil.example"]}`)
	rec := w.exchange(http.MethodGet, "/.well-known/webauthn", "")
	var reported struct{ Origins []string }
	if err := json.Unmarshal(rec.Body.Bytes(), &reported); err != nil || !slices.Equal(reported.Origins, []string{own, related}) {
		t.Errorf("%d %s, %v", rec.Code, rec.Body, err)
	}
	w.origin = related
	w.enrol("ada")
	if s := w.answer(w.start(schemas.Authentication), "passkey", nil); s.FlowStatus != schemas.Incomplete {
		t.Errorf("the next sign-in: %+v", s)
	}
}
