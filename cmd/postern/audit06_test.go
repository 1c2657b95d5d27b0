package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// The security audit of November 2026, finding 6: a sign-in by a key without user
// verification was worth more than two factors, and software counted as hardware.

// passkeyFlow signs in by any passkey, or by the session of one.
const passkeyFlow = `{"handle":"keys","name":"Keys","flowType":"AUTHENTICATION","nodes":[
	{"id":"session","use":"session-check","next":{"active":"done","none":"key"}},
	{"id":"key","use":"passkey-authenticate","next":{"success":"done","failure":"key"}},
	{"id":"done","use":"authorization-code"}]}`

// passkeyFixture is a server that trusts a maker of authenticators, with a relying party whose
// users sign in by passkeys.
type passkeyFixture struct {
	*party
	maker *passkeytest.CA
}

func newPasskeyFixture(t *testing.T, environ ...string) *passkeyFixture {
	t.Helper()
	maker := passkeytest.NewCA("trusted")
	file := filepath.Join(t.TempDir(), "makers.pem")
	datatest.WriteFile(t, file, maker.PEM())
	w := createUsers(t, append(environ, "POSTERN_PASSKEY_TRUST_ANCHORS="+file)...)
	return &passkeyFixture{w.relyingParty(t, "Keys", w.create(w.directory.Flows, passkeyFlow).ID), maker}
}

// relyingParty registers a client whose users sign in by a flow, with a browser. It may have the
// scopes besides openid.
func (w *testApp) relyingParty(t *testing.T, name, flowID string, scopes ...string) *party {
	t.Helper()
	c := w.create(w.directory.Applications, fmt.Sprintf(`{"name":%q,"authFlowId":%q,"inboundAuthConfig":[{"type":"oauth2","config":{
		"grantTypes":["authorization_code","refresh_token"],"redirectUris":[%q],"tokenEndpointAuthMethod":"client_secret_basic","pkceRequired":false,
		"scopes":["%s"]}}]}`, name, flowID, rpRedirect, strings.Join(append(scopes, "openid"), `","`))).Value.(*schemas.Application)
	return &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret, method: schemas.AuthMethodBasic, redirect: rpRedirect}
}

// register creates a passkey of a new user on the device, and returns the status.
func (w *passkeyFixture) register(name string, hows ...passkeytest.CeremonyOption) int {
	w.t.Helper()
	user := w.create(w.directory.Users, `{"type":"Person","attributes":{"username":"`+name+`"}}`).ID
	var begun struct {
		Options      json.RawMessage `json:"publicKeyCredentialCreationOptions"`
		SessionToken string
	}
	w.send(http.StatusOK, "/register/passkey/start", w.admin(), `{"userId":"`+user+`","attestation":"direct"}`, &begun)
	made, err := w.device.Register(begun.Options, w.origin, hows...)
	if err != nil {
		w.t.Fatal(err)
	}
	status, said := w.attempt("/register/passkey/finish", w.admin(), map[string]any{"sessionToken": begun.SessionToken, "publicKeyCredential": map[string]any{
		"id": made.ID, "type": "public-key", "response": map[string]string{"clientDataJSON": made.ClientDataJSON, "attestationObject": made.AttestationObject}}})
	if status != http.StatusOK && status != http.StatusBadRequest {
		w.t.Fatalf("%d %s", status, said)
	}
	return status
}

// signInByKey has the user sign in by the passkey on the device, if required, and returns
// the amr and acr of the ID token.
func (w *passkeyFixture) signInByKey(change ...string) (amr []string, acr string) {
	w.t.Helper()
	reply, text := w.visit(w.at("/oauth2/authorize?" + w.request(change...).Encode()))
	if to := w.location(reply); strings.HasPrefix(to.String(), w.at("/gate/signin?")) {
		id := to.Query().Get("executionId")
		asked := w.step(map[string]any{"executionId": id})
		done := w.step(map[string]any{"executionId": id, "challengeToken": asked.ChallengeToken, "inputs": w.assertion(asked)})
		reply, text = w.visit(done.Data.RedirectURL)
	}
	got, status := w.redeem(w.code(w.follow(reply, text)))
	if status != http.StatusOK {
		w.t.Fatalf("%d %+v", status, got)
	}
	id, claims := w.verify(got)
	var said struct {
		AMR []string `json:"amr"`
	}
	if err := id.Claims(&said); err != nil {
		w.t.Fatal(err)
	}
	return said.AMR, claims.ACR
}

// The auditor's key: software, attestation none, no user verification.
func TestAudit06PasskeyWithoutUserVerificationIsOneFactor(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := newPasskeyFixture(t, environ...)
		w.device = passkeytest.New(passkeytest.CannotVerify(), passkeytest.NoCounter())
		w.register("ada")
		if amr, acr := w.signInByKey(); !slices.Equal(amr, []string{"pop"}) || acr != "phr" {
			t.Errorf("signed in as %v, %s", amr, acr)
		}
		for _, stronger := range []string{schemas.ACRMultiFactor, schemas.ACRMultiFactorPR, "phrh"} {
			w.refused(w.ask("acr_values", stronger, "prompt", "none"), "login_required")
		}
		if amr, acr := w.signInByKey("acr_values", "phrh "+schemas.ACRMultiFactor); slices.Contains(amr, "mfa") || acr != "phr" {
			t.Errorf("asked for more, and signed in as %v, %s", amr, acr)
		}
		if _, acr := w.signInByKey("acr_values", "phrh phr", "prompt", "none"); acr != "phr" {
			t.Errorf("the class that was asked for is %q", acr)
		}
	})
}

// The claims about a passkey are what was verified: user verification, and an attestation
// that chained to a trust anchor at registration.
func TestAudit06HardwareRequiresAttestation(t *testing.T) {
	untrusted := passkeytest.NewCA("an unknown maker")
	w := newPasskeyFixture(t)
	trusted, unknown := passkeytest.AttestedBy(w.maker), passkeytest.AttestedBy(untrusted)
	for i, test := range []struct {
		what   string
		device []passkeytest.Option
		amr    string
		acr    string
	}{
		{"attested, no user verification", []passkeytest.Option{trusted, passkeytest.CannotVerify()}, "hwk pop", "phrh"},
		{"attested", []passkeytest.Option{trusted}, "hwk pop user mfa", schemas.ACRMultiFactorPRProtected},
		{"attested, synced", []passkeytest.Option{trusted, passkeytest.Synced()}, "swk pop user mfa", schemas.ACRMultiFactorPR},
		{"attested by a maker that is not trusted", []passkeytest.Option{unknown}, "pop user mfa", schemas.ACRMultiFactorPR},
		{"attested by itself", nil, "pop user mfa", schemas.ACRMultiFactorPR},
	} {
		w.device, w.http = passkeytest.New(append(test.device, passkeytest.NoCounter())...), newBrowser(t, w.testApp.http)
		if status := w.register(fmt.Sprintf("user-%d", i)); status != http.StatusOK {
			t.Fatalf("%s: registering: %d", test.what, status)
		}
		if amr, acr := w.signInByKey(); strings.Join(amr, " ") != test.amr || acr != test.acr {
			t.Errorf("%s: signed in as %v, %s; expected %s, %s", test.what, amr, acr, test.amr, test.acr)
		}
		if _, acr := w.signInByKey("acr_values", "phr", "prompt", "none"); acr != "phr" {
			t.Errorf("%s: asked for phr, and the class is %s", test.what, acr)
		}
	}
	w.device = passkeytest.New(trusted)
	if status := w.register("tampered", passkeytest.BadSignature); status != http.StatusBadRequest {
		t.Errorf("a statement that does not verify: %d", status)
	}
}

// A file without certificates is an error at start, and does not mean that every maker is
// trusted.
func TestAudit06TrustAnchorsMustBeCertificates(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{"absent.pem": "no such file", "empty.pem": "found none", "key.pem": "type CERTIFICATE only"} {
		file := filepath.Join(dir, name)
		text := map[string]string{"empty.pem": "none\n", "key.pem": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}[name]
		if name != "absent.pem" {
			datatest.WriteFile(t, file, text)
		}
		if _, err := trustAnchors([]string{file}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "passkey.trust_anchors[0]") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A client that answers with the assertion of a run that it started for the request gets
// the class of the session, and the class that it requested.
func TestAudit06AssertionHasTheClassOfItsSession(t *testing.T) {
	w := newPasskeyFixture(t)
	w.register("ada")
	reply, _ := w.visit(w.at("/oauth2/authorize?" + w.request("acr_values", "phr").Encode()))
	auth := w.location(reply).Query()
	app, err := w.store.ApplicationByClientID(t.Context(), w.id)
	if err != nil {
		t.Fatal(err)
	}
	begun := w.step(map[string]any{"applicationId": app.ID, "flowType": "AUTHENTICATION", "authId": auth.Get("authId")})
	done := w.authenticate(begun) // without the cookies: the assertion is the answer
	status, said := w.postJSON("/oauth2/auth/callback", map[string]string{"authId": auth.Get("authId"), "assertion": done.Assertion})
	var to struct {
		URI string `json:"redirect_uri"`
	}
	if err := json.Unmarshal([]byte(said), &to); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s", status, said)
	}
	back, err := url.Parse(to.URI)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := w.redeem(back.Query().Get("code"))
	if _, claims := w.verify(got); claims.ACR != "phr" {
		t.Errorf("the class is %q", claims.ACR)
	}
}
