package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/schemas"
)

// serveAt serves at an address of this machine, and returns the URL.
func serveAt(t *testing.T, host string, handle http.HandlerFunc) string {
	t.Helper()
	listener, err := net.Listen("tcp", host+":0")
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatal(err)
	case err != nil:
		t.Skipf("SKIP: this machine has no address %s", host)
	}
	s := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handle}}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// An anonymous caller who makes the server request many slow addresses does not block
// sign-ins with another provider.
func TestUntrustedURLsDoNotBlockProviders(t *testing.T) {
	h := emptyApp(t, "POSTERN_OUTBOUND_ALLOW=127.0.0.0/8")
	patient := h.outbound.With(func(r *outbound.Rules) { r.Timeout = time.Hour })
	const hosts, share = 8, 8
	came, release := make(chan bool, hosts*share), make(chan bool)
	var waiting sync.WaitGroup
	for host := range hosts {
		slow := serveAt(t, fmt.Sprintf("127.0.0.%d", host+2), func(http.ResponseWriter, *http.Request) {
			came <- true
			<-release
		})
		for range share {
			waiting.Go(func() { _, _ = patient.Get(t.Context(), slow) })
		}
	}
	t.Cleanup(func() { close(release); waiting.Wait() })
	for range hosts * share {
		<-came
	}
	if _, err := h.outbound.Get(t.Context(), "http://127.0.0.100"); !schemas.HasCode(err, schemas.CodeOverloaded) {
		t.Fatalf("there is a place left: %v", err)
	}
	asked := make(chan bool, 1)
	issuer := serveAt(t, "127.0.0.1", func(w http.ResponseWriter, _ *http.Request) {
		asked <- true
		w.WriteHeader(http.StatusNotFound)
	})
	if _, err := h.federation.Begin(t.Context(), &schemas.IdentityProvider{Issuer: issuer}, federation.Request{Now: time.Now()}); len(asked) != 1 {
		t.Errorf("the provider was not asked: %v", err)
	}
}

// A new identity provider is refused for a reply without metadata, and for an address that is not
// allowed. One that cannot be reached may not run yet: it is accepted.
func TestIssuerFault(t *testing.T) {
	h := emptyApp(t, "POSTERN_OUTBOUND_ALLOW=127.0.0.1")
	h.isServer = true
	status := func(code int) string {
		return serveAt(t, "127.0.0.1", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	down := httptest.NewServer(nil)
	down.Close()
	missing, failing := status(http.StatusNotFound), status(http.StatusInternalServerError)
	for _, test := range []struct{ name, issuer, want string }{
		{"404", missing, "at " + missing + "/.well-known/openid-configuration: expected the status 200, got 404"},
		{"500 and a slash", failing + "/", "at " + failing + "/.well-known/openid-configuration: expected the status 200, got 500"},
		{"no JSON", status(http.StatusOK), "the provider's configuration"},
		{"plain http", "http://127.0.0.2:9", "outbound.allow"},
		{"a private address", "https://10.0.0.1", "outbound.allow"},
		{"a port", "https://127.0.0.2:80", "outbound.allow"},
		{"a refused connection", down.URL, ""},
		{"TLS at a port without", "https" + missing[len("http"):], ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := h.issuerFault(t.Context(), test.issuer); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Anyone can name the address of a metadata document, and a document can name other addresses: outbound.allow
// applies to them only if an administrator has listed the host, or has verified the client.
func TestDocumentsAreAtPublicAddresses(t *testing.T) {
	for _, test := range []struct {
		allowed string
		asks    bool
	}{{"", false}, {"editor.example.com", false}, {"127.0.0.1", true}} {
		asked := make(chan string, 10)
		site := serveAt(t, "127.0.0.1", func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path })
		h := newTestApp(t, "POSTERN_OUTBOUND_ALLOW=127.0.0.1", "POSTERN_OAUTH_CLIENT_METADATA_DOCUMENTS_ALLOWED_HOSTS="+test.allowed)
		query := url.Values{"client_id": {site + "/delete"}, "response_type": {"code"}, "redirect_uri": {"https://app.example.com/"}, "scope": {"openid"}}
		reply := h.exchange(http.MethodGet, "/oauth2/authorize?"+query.Encode(), "")
		if !strings.Contains(reply.Header().Get("Location"), "invalid_client") || len(asked) > 0 != test.asks {
			t.Errorf("with %q allowed: %d requests, %v", test.allowed, len(asked), reply.Header())
		}
	}
}

// The keys of a client with a metadata document are read at a private address only if it is verified.
func TestKeysOfDocumentsAreAtPublicAddresses(t *testing.T) {
	r := newRegistrars(t)
	key := r.publishKey(t, "/keys", "first")
	p := r.document(t, "jwks_uri", r.site.URL+"/keys", "token_endpoint_auth_method", schemas.AuthMethodPrivateKeyJWT)
	p.method, p.key = schemas.AuthMethodPrivateKeyJWT, key
	for _, want := range []int{http.StatusUnauthorized, http.StatusOK} {
		if got, status := p.redeem(p.code(p.ask(pkce()...)), "code_verifier", gateVerifier); status != want {
			t.Errorf("%d %+v, expected %d", status, got, want)
		}
		r.makeTrusted(t, r.applicationOf(p.id))
	}
}

// The addresses of a client that registers without a token must be public, unless its host is listed.
// Callers who may register applications are not limited.
func TestAddressesOfRegistrations(t *testing.T) {
	for _, test := range []struct {
		name, listed string
		byToken      bool
		accepted     bool
	}{
		{name: "anonymous"},
		{name: "anonymous, another host is listed", listed: "client.example.com"},
		{name: "anonymous, listed", listed: "127.0.0.1", accepted: true},
		{name: "with a token", byToken: true, accepted: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRegistrars(t)
			r.list(test.listed)
			r.publish("/sector", []string{rpRedirect})
			headers := []string{jsonBody}
			if test.byToken {
				headers = append(headers, "Authorization: Bearer "+r.admin())
			}
			for member, path := range map[string]string{"sector_identifier_uri": "/sector", "jwks_uri": "/keys", "backchannel_logout_uri": "/out"} {
				body := map[string]any{"client_name": "Dynamic", "redirect_uris": []string{rpRedirect}, member: r.site.URL + path}
				if member == "jwks_uri" {
					body["token_endpoint_auth_method"] = schemas.AuthMethodPrivateKeyJWT
				}
				reply := r.testApp.exchange(http.MethodPost, "/oauth2/dcr/register", string(datatest.Marshal(t, body)), headers...)
				explained := reply.Code == http.StatusBadRequest
				for _, part := range []string{"invalid_client_metadata", member + ": ", "loopback", "outbound.allow", "allowed_hosts"} {
					explained = explained && strings.Contains(reply.Body.String(), part)
				}
				if test.accepted && reply.Code != http.StatusCreated || !test.accepted && !explained {
					t.Errorf("%s: %d %s", member, reply.Code, reply.Body)
				}
			}
		})
	}
}

// A client that registered itself before its addresses had to be public cannot use them until an
// administrator approves it. The audit log contains the reason.
func TestAddressesOfEarlierRegistrations(t *testing.T) {
	r := newRegistrars(t)
	key := r.publishKey(t, "/keys", "first")
	p := r.party(t, "jwks_uri", r.site.URL+"/keys", "token_endpoint_auth_method", schemas.AuthMethodPrivateKeyJWT)
	p.key = key
	r.list("client.example.com")
	p.http = newBrowser(t, r.testApp.http)
	for _, want := range []int{http.StatusUnauthorized, http.StatusOK} {
		if got, status := p.redeem(p.code(p.ask(pkce()...)), "code_verifier", gateVerifier); status != want {
			t.Errorf("%d %+v, expected %d", status, got, want)
		}
		r.makeTrusted(t, r.applicationOf(p.id))
	}
	refused := r.eventsOf("client.refused")
	if len(refused) != 1 || refused[0].Detail["reason"] != "private_keys_address" {
		t.Errorf("the events are %+v", refused)
	}
}
