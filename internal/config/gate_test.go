package config

import (
	"slices"
	"testing"
)

func TestGate(t *testing.T) {
	const server = "POSTERN_SERVER_HOSTNAME=login.example.org"
	for _, test := range []struct {
		environ     []string
		url, listen string
		external    string // the origin that may call the API from elsewhere
	}{
		{environ: nil, url: "https://login.example.org:8090/gate"},
		{environ: []string{"POSTERN_GATE_CLIENT_PORT=8090"}, url: "https://login.example.org:8090/gate"},
		{environ: []string{"POSTERN_GATE_CLIENT_PORT=9443"}, url: "https://login.example.org:9443", listen: ":9443"},
		{environ: []string{"POSTERN_GATE_CLIENT_PORT=443"}, url: "https://login.example.org", listen: ":443"},
		{environ: []string{"POSTERN_GATE_CLIENT_PORT=9443", "POSTERN_SERVER_LISTEN=127.0.0.1:8090"}, url: "https://login.example.org:9443", listen: "127.0.0.1:9443"},
		{environ: []string{"POSTERN_GATE_CLIENT_PORT=9443", "POSTERN_GATE_CLIENT_EXTERNAL=true"}, url: "https://login.example.org:9443", external: "https://login.example.org:9443"},
	} {
		c := mustLoad(t, "", append(test.environ, server))
		if c.GateURL() != test.url || c.GateListen() != test.listen {
			t.Errorf("%v: people are sent to %s, and it listens on %q", test.environ, c.GateURL(), c.GateListen())
		}
		origins := []string{"https://login.example.org:8090"}
		if c.ownGate() {
			origins = append(origins, test.url)
		}
		if !slices.Equal(c.Passkey.AllowedOrigins, origins) || c.Passkey.RelyingPartyID != "login.example.org" {
			t.Errorf("%v: passkeys are for %v and %s", test.environ, c.Passkey.AllowedOrigins, c.Passkey.RelyingPartyID)
		}
		if got := slices.Contains(c.CORS.AllowedOrigins, test.external); got != (test.external != "") || test.external == "" && len(c.CORS.AllowedOrigins) > 0 {
			t.Errorf("%v: the API may be called from %v", test.environ, c.CORS.AllowedOrigins)
		}
	}
}
