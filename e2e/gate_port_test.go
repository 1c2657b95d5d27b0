package e2e_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// With hosted pages on a port of their own, next to the API, a user from a client signs up
// there with a passkey, returns, and signs out.
func TestGateAtItsOwnPort(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := serve(t, fmt.Sprintf("POSTERN_GATE_CLIENT_PORT=%d", port))
	rp := newRelyingParty(t, p, "Shop")
	g := &gateTab{tab: openTab(t), base: fmt.Sprintf("http://localhost:%d", port)}
	g.open(rp.request())
	g.shows("step/key")
	if at := eval[string](g.tab, `location.origin + location.pathname`); at != g.base+"/signin" {
		t.Errorf("people sign in at %s", at)
	}
	g.signUpInstead("ada")
	got := rp.redeem(rp.waitForCode(g.tab).Get("code"))
	if claims := rp.verify(got.ID, got.Access); claims["preferred_username"] != "ada" {
		t.Errorf("the ID token says %v", claims)
	}
	g.open(p.base + "/oauth2/logout?client_id=" + rp.clientID)
	g.shows("signout")
	g.click("sign-out")
	g.shows("signedout")
	if at := eval[string](g.tab, `location.origin + location.pathname`); at != g.base+"/signedout" {
		t.Errorf("people are signed out at %s", at)
	}
	g.open(rp.request("prompt", "none"))
	if q := rp.waitForCode(g.tab); q.Get("error") != "login_required" {
		t.Errorf("then the client gets %v", q)
	}
	if code := p.terminate(); code != 0 || !strings.Contains(p.log.String(), "listening for the hosted pages") {
		t.Errorf("ended with %d:\n%s", code, p.log)
	}
}

// With https the second port has the certificate of the first, and no plain HTTP.
func TestGateAtItsOwnPortWithHTTPS(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := serveAt(t, "https", "localhost", "POSTERN_SERVER_HTTP_ONLY=false", fmt.Sprintf("POSTERN_GATE_CLIENT_PORT=%d", port))
	gate := &postern{address: fmt.Sprintf("127.0.0.1:%d", port)}
	if !bytes.Equal(gate.certificate(t).Raw, p.certificate(t).Raw) {
		t.Error("the pages have another certificate")
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(p.certificate(t))
	client := &http.Client{Transport: &http.Transport{DialContext: dialLoopback(port), TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	defer client.CloseIdleConnections()
	for url, want := range map[string]int{
		"https://localhost:%d/signin": http.StatusOK, "https://localhost:%d/health/liveness": http.StatusOK, "http://localhost:%d/signin": http.StatusBadRequest,
	} {
		r, err := client.Get(fmt.Sprintf(url, port))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %d, want %d", url, r.StatusCode, want)
		}
	}
}
