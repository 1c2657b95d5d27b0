package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
)

const (
	adaToken = "Authorization: Bearer user-" + ada
	bobToken = "Authorization: Bearer user-" + bob
	system   = "Authorization: bearer system"
)

// started is the reply to either start.
type started struct {
	Creation     json.RawMessage `json:"publicKeyCredentialCreationOptions"`
	Request      json.RawMessage `json:"publicKeyCredentialRequestOptions"`
	SessionToken string          `json:"sessionToken"`
}

func (w *passkeyFixture) startRegistration(body any, headers ...string) started {
	w.t.Helper()
	var s started
	w.post("/register/passkey/start", body, &s, headers...)
	return s
}

func (w *passkeyFixture) startAuthentication(body any, headers ...string) started {
	w.t.Helper()
	var s started
	w.post("/auth/passkey/start", body, &s, headers...)
	return s
}

// attested is the finish request of the specification, and nothing more.
func attested(t testing.TB, a *passkeytest.Authenticator, s started, hows ...passkeytest.CeremonyOption) map[string]any {
	t.Helper()
	r, err := a.Register(s.Creation, rpOrigin, hows...)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"publicKeyCredential": map[string]any{"id": r.ID, "type": "public-key",
			"response": map[string]any{"clientDataJSON": r.ClientDataJSON, "attestationObject": r.AttestationObject}},
		"sessionToken":   s.SessionToken,
		"credentialName": "My key",
	}
}

func asserted(t testing.TB, a *passkeytest.Authenticator, s started, hows ...passkeytest.CeremonyOption) map[string]any {
	t.Helper()
	return assertedAt(t, a, rpOrigin, s, hows...)
}

func assertedAt(t testing.TB, a *passkeytest.Authenticator, origin string, s started, hows ...passkeytest.CeremonyOption) map[string]any {
	t.Helper()
	r, err := a.Authenticate(s.Request, origin, hows...)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"publicKeyCredential": map[string]any{"id": r.ID, "type": "public-key",
			"response": map[string]any{"clientDataJSON": r.ClientDataJSON, "authenticatorData": r.AuthenticatorData, "signature": r.Signature, "userHandle": r.UserHandle}},
		"sessionToken":  s.SessionToken,
		"skipAssertion": false,
	}
}

// enroll gives a user a passkey.
func (w *passkeyFixture) enrol(userID string) *passkeytest.Authenticator {
	w.t.Helper()
	a := passkeytest.New()
	s := w.startRegistration(`{"userId":"`+userID+`"}`, system)
	w.post("/register/passkey/finish", attested(w.t, a, s), &struct{}{}, system)
	return a
}

func TestPasskeyRoundTrip(t *testing.T) {
	w := newPasskeyFixture(t)
	a := passkeytest.New()
	s := w.startRegistration(map[string]any{
		"userId": ada, "relyingPartyId": "example.com", "relyingPartyName": "Example", "attestation": "none",
		"authenticatorSelection": map[string]any{"userVerification": "preferred", "authenticatorAttachment": "platform", "requireResidentKey": true},
	}, adaToken)
	var o struct {
		RP, User  struct{ ID, Name, DisplayName string }
		PublicKey any
		Selection struct{ ResidentKey string } `json:"authenticatorSelection"`
	}
	if err := json.Unmarshal(s.Creation, &o); err != nil || o.RP.ID != "example.com" || o.RP.Name != "Example" || o.User.Name != "ada" || o.User.DisplayName != "Ada" || o.PublicKey != nil || o.Selection.ResidentKey != "required" {
		t.Fatalf("creation options: %+v, %v", o, err)
	}
	rec := w.do("POST", "/register/passkey/finish", asJSON(t, attested(t, a, s)), adaToken)
	want := `{"CredentialID":"` + schemas.Bytes(a.Credentials()[0].ID).String() + `","CredentialName":"My key","CreatedAt":"2030-01-02T03:04:05.678Z"}` + "\n"
	if rec.Code != http.StatusOK || rec.Body.String() != want {
		t.Fatalf("finish: %d %s, want %s", rec.Code, rec.Body, want)
	}

	for _, start := range []string{`{}`, `{"userId":null}`, `{"userId":"` + ada + `","relyingPartyId":"example.com"}`} {
		body := asserted(t, a, w.startAuthentication(start))
		var got struct{ ID, Type, OUID, Assertion string }
		w.post("/auth/passkey/finish", body, &got)
		var said schemas.Assertion
		if err := json.Unmarshal([]byte(got.Assertion), &said); err != nil || got.ID != ada || got.Type != "Person" || got.OUID != "ou1" {
			t.Fatalf("%s: %+v, %v", start, got, err)
		}
		if said.Subject != ada || !slices.Equal(said.Audience, []string{publicURL}) || len(said.Permissions) > 0 ||
			said.ACR != schemas.ACRMultiFactorPR || !slices.Equal(said.AMR, []string{"pop", "user", "mfa"}) || !said.AuthTime.Equal(w.clock()) || len(said.Profile) != 3 || said.Profile["given_name"] != "Ada" || said.Profile["name"] != "Ada" {
			t.Errorf("%s: asserted %+v", start, said)
		}
	}
	if got, want := w.store.events(), []string{"passkey.registered", "passkey.used", "user.signed_in", "passkey.used", "user.signed_in", "passkey.used", "user.signed_in"}; !slices.Equal(got, want) {
		t.Errorf("audit log %v, want %v", got, want)
	}
	if c := w.store.passkeys[0]; c.SignCount != 3 {
		t.Errorf("sign count %d, want 3", c.SignCount)
	}
}

// A user who uses a passkey on a page of the server itself may do what a sign-in to the console
// with nothing but this passkey permits, and elsewhere nothing.
func TestPasskeyPermissions(t *testing.T) {
	const key, done = `{"id":"key","use":"passkey-authenticate","next":"done"}`, `{"id":"done","use":"authorization-code"}`
	mail := schemas.Provenance{ACR: schemas.ACRVouched, Methods: []string{schemas.AMREmail}}
	password := schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}}
	touch := []passkeytest.CeremonyOption{passkeytest.NoUV}
	tests := []struct {
		name, origin string
		nodes        string // of the console's flow, "" for no console
		guarantees   schemas.Guarantees
		types        []string
		added        schemas.Provenance
		how          []passkeytest.CeremonyOption
		acr          string
		permitted    bool
	}{
		{"on a page of the server", publicURL, key + "," + done, schemas.Guarantees{}, nil, schemas.Provenance{}, nil, schemas.ACRMultiFactorPR, true},
		{"on another page", rpOrigin, key + "," + done, schemas.Guarantees{}, nil, schemas.Provenance{}, nil, schemas.ACRMultiFactorPR, false},
		{"no console", publicURL, "", schemas.Guarantees{}, nil, schemas.Provenance{}, nil, schemas.ACRMultiFactorPR, false},
		{"added by mail", publicURL, key + "," + done, schemas.Guarantees{PhishingResistant: true}, nil, mail, nil, schemas.ACRVouched, false},
		{"added with a password", publicURL, key + "," + done, schemas.Guarantees{PhishingResistant: true}, nil, password, nil, schemas.ACRPassword, false},
		{"touched only", publicURL, key + "," + done, schemas.Guarantees{PhishingResistant: true}, nil, schemas.Provenance{}, touch, schemas.ACRPhishingResistant, true},
		{"touched only, for a flow that verifies users", publicURL, `{"id":"key","use":"passkey-authenticate","with":{"userVerification":"required"},"next":"done"},` + done,
			schemas.Guarantees{}, nil, schemas.Provenance{}, touch, schemas.ACRPhishingResistant, false},
		{"a user of another type", publicURL, key + "," + done, schemas.Guarantees{}, []string{"Staff"}, schemas.Provenance{}, nil, schemas.ACRMultiFactorPR, false},
		{"a flow with a second factor", publicURL, `{"id":"key","use":"passkey-authenticate","next":"more"},{"id":"more","use":"totp","next":{"success":"done","failure":"key","none":"key"}},` + done,
			schemas.Guarantees{}, nil, schemas.Provenance{}, nil, schemas.ACRMultiFactorPR, false},
		{"a flow with a condition", publicURL, `{"id":"key","use":"passkey-authenticate","next":"if"},{"id":"if","use":"decision","with":{"cases":[{"when":"!user.hasTotp","outcome":"go"}]},"next":{"go":"done","otherwise":"key"}},` + done,
			schemas.Guarantees{}, nil, schemas.Provenance{}, nil, schemas.ACRMultiFactorPR, false},
		{"a flow without passkeys", publicURL, `{"id":"who","use":"prompt","with":{"inputs":[{"identifier":"name","type":"TEXT_INPUT","required":true},{"identifier":"password","type":"PASSWORD_INPUT","required":true,"autocomplete":"current-password"}],"actions":[{"ref":"go"}]},"next":"find"},
			{"id":"find","use":"user-resolve","with":{"by":["username"],"from":"name","conceal":true},"next":"check"},{"id":"check","use":"password-authenticate","next":{"success":"done","failure":"who"}},` + done,
			schemas.Guarantees{}, nil, schemas.Provenance{}, nil, schemas.ACRMultiFactorPR, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newPasskeyFixture(t, func(o *server.Options) {
				ceremonies, err := passkey.New(passkey.Config{Origins: []string{rpOrigin, publicURL}, RPID: "example.com", Now: o.Now})
				if err != nil {
					t.Fatal(err)
				}
				o.Passkeys = ceremonies
			})
			if test.nodes != "" {
				w.store.addConsole(t, test.nodes, test.guarantees, test.types)
			}
			a := w.enrol(ada)
			w.store.passkeys[0].AddedBy = test.added
			var got struct{ Assertion string }
			w.post("/auth/passkey/finish", assertedAt(t, a, test.origin, w.startAuthentication(`{}`), test.how...), &got)
			var said schemas.Assertion
			if err := json.Unmarshal([]byte(got.Assertion), &said); err != nil || said.Subject != ada || said.ACR != test.acr || slices.Contains(said.Permissions, "system") != test.permitted {
				t.Errorf("%+v, %v, want the class %s, with permissions: %t", said, err, test.acr, test.permitted)
			}
			if s := w.store.signIns(); len(s) != 1 || s[0].ACR != test.acr {
				t.Errorf("sessions %+v", s)
			}
		})
	}
}

// Each assertion is of a session of its own, which lasts as long as it does.
func TestPasskeyStartsSession(t *testing.T) {
	w := newPasskeyFixture(t)
	a := w.enrol(bob)
	var got struct{ Assertion string }
	w.post("/auth/passkey/finish", asserted(t, a, w.startAuthentication(`{}`)), &got, "User-Agent: Firefox\u202e/1 (evil)")
	var said schemas.Assertion
	datatest.Unmarshal(t, []byte(got.Assertion), &said)
	keys, err := w.store.Credentials(t.Context(), bob)
	if err != nil || len(keys) != 1 {
		t.Fatalf("%d passkeys, %v", len(keys), err)
	}
	want := []schemas.Session{{
		ID: said.Session, UserID: bob, AMR: said.AMR, ACR: said.ACR, Client: "Firefox/1 (evil)",
		CreatedAt: w.clock(), ExpiresAt: w.clock().Add(time.Hour),
		Proofs: []schemas.Proof{{Kind: schemas.PasskeyProof, Of: keys[0].ID.String(), At: w.clock(), ACR: said.ACR, AMR: strings.Join(said.AMR, " ")}},
	}}
	if started := w.store.signIns(); !reflect.DeepEqual(started, want) || said.Session == "" {
		t.Errorf("started %+v, want %+v", started, want)
	}
	body := asserted(t, a, w.startAuthentication(`{}`))
	body["skipAssertion"] = true
	w.post("/auth/passkey/finish", body, &struct{}{})
	if started := w.store.signIns(); len(started) != 1 {
		t.Errorf("%d sessions, and only one assertion", len(started))
	}
	if got := w.store.events(); !slices.Equal(got[len(got)-2:], []string{"passkey.used", "user.signed_in"}) {
		t.Errorf("without an assertion: %v is recorded", got)
	}
}

func TestSkipAssertionSkipsNothingElse(t *testing.T) {
	w := newPasskeyFixture(t)
	a := w.enrol(bob)
	body := asserted(t, a, w.startAuthentication(`{}`))
	body["skipAssertion"] = true
	rec := w.do("POST", "/auth/passkey/finish", asJSON(t, body))
	if want := `{"id":"` + bob + `","type":"Person","ouId":"ou1"}` + "\n"; rec.Code != 200 || rec.Body.String() != want {
		t.Errorf("%d %s, want %s", rec.Code, rec.Body, want)
	}
	body = asserted(t, a, w.startAuthentication(`{}`), passkeytest.BadSignature)
	body["skipAssertion"] = true
	fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, body)), 400, schemas.CodePasskeyFailed)
}

// Browsers send more than the specification prints, and may send less.
func TestCredentialObjectsAreTolerant(t *testing.T) {
	w := newPasskeyFixture(t)
	a := w.enrol(ada)
	for name, change := range map[string]func(body, credential, response map[string]any){
		"more": func(_, c, r map[string]any) {
			c["rawId"], c["clientExtensionResults"], c["authenticatorAttachment"], c["future"] = c["id"], map[string]any{"x": 1}, "platform", []any{1}
			r["future"] = true
		},
		"less": func(b, c, r map[string]any) {
			delete(c, "type")
			delete(b, "skipAssertion")
			r["transports"] = []string{"usb"}
		},
		"null": func(b, c, _ map[string]any) { c["authenticatorAttachment"], b["skipAssertion"] = nil, nil },
	} {
		body := asserted(t, a, w.startAuthentication(`{"userId":"`+ada+`"}`))
		c := body["publicKeyCredential"].(map[string]any)
		change(body, c, c["response"].(map[string]any))
		if rec := w.do("POST", "/auth/passkey/finish", asJSON(t, body)); rec.Code != 200 {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
}

func TestRegistrationPermissions(t *testing.T) {
	tests := []struct {
		name, header string
		status       int
		code         string
		challenge    string // contained in WWW-Authenticate
	}{
		{"no token", "", 401, "unauthorized", `Bearer realm="postern"`},
		{"garbage", "Authorization: Bearer garbage", 401, "invalid_token", `error="invalid_token", error_description="the token is not one of 'ours'"`},
		{"no scheme", "Authorization: user-" + ada, 401, "invalid_token", `error="invalid_token"`},
		{"another scheme", "Authorization: Basic user-" + ada, 401, "invalid_token", `error="invalid_token"`},
		{"nothing after the scheme", "Authorization: Bearer ", 401, "invalid_token", `error="invalid_token"`},
		{"another user's", bobToken, 403, "forbidden", `error="insufficient_scope", scope="system"`},
		{"the verifier is busy", "Authorization: Bearer busy", 503, schemas.CodeOverloaded, ""},
		{"their own", adaToken, 200, "", ""},
		{"system", system, 200, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newPasskeyFixture(t)
			good := w.startRegistration(`{"userId":"`+ada+`"}`, system)
			finish := w.do("POST", "/register/passkey/finish", asJSON(t, attested(t, passkeytest.New(), good)), tt.header)
			start := w.do("POST", "/register/passkey/start", `{"userId":"`+ada+`"}`, tt.header)
			if tt.status == 200 {
				if start.Code != 200 || finish.Code != 200 {
					t.Errorf("start %d %s, finish %d %s", start.Code, start.Body, finish.Code, finish.Body)
				}
				return
			}
			fails(t, start, tt.status, tt.code)
			fails(t, finish, tt.status, tt.code)
			got := start.Header().Get("WWW-Authenticate")
			if !strings.Contains(got, tt.challenge) || (tt.challenge == "") != (got == "") || tt.name == "no token" && got != tt.challenge {
				t.Errorf("WWW-Authenticate %q, want %q in it", got, tt.challenge)
			}
			if len(w.store.passkeys) != 0 {
				t.Error("a passkey was registered")
			}
		})
	}
}

// A second Authorization header could be the one that a proxy in front checked.
func TestTwoTokensAreRefused(t *testing.T) {
	w := newPasskeyFixture(t)
	r, _ := http.NewRequest("POST", "/register/passkey/start", strings.NewReader(`{"userId":"`+ada+`"}`))
	r.Header["Authorization"] = []string{"Bearer user-" + bob, "Bearer system"}
	r.Header.Set("Content-Type", "application/json")
	rec := record(w, r)
	fails(t, rec, 401, "invalid_token")
}

func TestPasskeyRefusals(t *testing.T) {
	w := newPasskeyFixture(t)
	a := w.enrol(ada)
	t.Run("an origin that is not allowed", func(t *testing.T) {
		s := w.startAuthentication(`{}`)
		r, err := a.Authenticate(s.Request, "https://evil.example.com")
		if err != nil {
			t.Fatal(err)
		}
		body := asserted(t, a, s)
		body["publicKeyCredential"].(map[string]any)["response"] = map[string]any{"clientDataJSON": r.ClientDataJSON, "authenticatorData": r.AuthenticatorData, "signature": r.Signature, "userHandle": r.UserHandle}
		f := fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, body)), 400, schemas.CodePasskeyFailed)
		for _, says := range []string{"https://evil.example.com", "example.com", "passkey.allowed_origins"} {
			if !strings.Contains(f.Description.DefaultValue, says) {
				t.Errorf("%q does not name %s", f.Description.DefaultValue, says)
			}
		}
	})
	t.Run("a passkey that was removed", func(t *testing.T) {
		body := asserted(t, a, w.startAuthentication(`{}`))
		kept := w.store.passkeys
		w.store.passkeys = nil
		fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, body)), 400, schemas.CodePasskeyFailed)
		w.store.passkeys = kept
	})
	t.Run("a user who was removed", func(t *testing.T) {
		b := w.enrol(bob)
		body := asserted(t, b, w.startAuthentication(`{}`))
		delete(w.store.users, bob)
		fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, body)), 400, schemas.CodeUserNotFound)
	})
	t.Run("a passkey registered twice", func(t *testing.T) {
		s := w.startRegistration(`{"userId":"`+ada+`"}`, adaToken)
		body := attested(t, passkeytest.New(), s)
		id, _ := schemas.ParseBytes(body["publicKeyCredential"].(map[string]any)["id"].(string))
		w.store.passkeys = append(w.store.passkeys, schemas.Credential{ID: id, UserID: "somebody"})
		fails(t, w.do("POST", "/register/passkey/finish", asJSON(t, body), adaToken), 409, "credential_exists")
	})
	t.Run("a counter that fell is audited", func(t *testing.T) {
		w.post("/auth/passkey/finish", asserted(t, a, w.startAuthentication(`{}`)), &struct{}{})
		before := len(w.store.events())
		fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, asserted(t, a, w.startAuthentication(`{}`), passkeytest.CounterRegress))), 400, schemas.CodePasskeyFailed)
		if got := w.store.events()[before:]; !slices.Equal(got, []string{"passkey.refused"}) {
			t.Errorf("audited %v", got)
		}
		fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, asserted(t, a, w.startAuthentication(`{}`), passkeytest.BadSignature))), 400, schemas.CodePasskeyFailed)
		if got := w.store.events()[before:]; len(got) != 1 {
			t.Errorf("unauthenticated clients can write to the audit log: %v", got)
		}
	})
}

func TestOwnPasskeysAreExcluded(t *testing.T) {
	w := newPasskeyFixture(t)
	a := w.enrol(ada)
	s := w.startRegistration(`{"userId":"`+ada+`"}`, adaToken)
	if _, err := a.Register(s.Creation, rpOrigin); err != passkeytest.ErrExcluded {
		t.Errorf("the authenticator says %v, want ErrExcluded", err)
	}
}

// keys keeps signing keys in memory that are not rotated.
type keys struct {
	token.Keys
	list []schemas.SigningKey
}

func (k *keys) SigningKeys(context.Context) ([]schemas.SigningKey, error) { return k.list, nil }

func (k *keys) NeedSigningKey(context.Context, string, time.Time) error { return nil }

func (k *keys) AddSigningKey(_ context.Context, key schemas.SigningKey) error {
	k.list = append(k.list, key)
	return nil
}

// rotatingKeys are tokens that are exchanged for others in the middle of a test.
type rotatingKeys struct {
	issuer
	next issuer
}

// issuer issues assertions and verifies them.
type issuer interface {
	server.Tokens
	nodes.Asserter
}

// The assertion of a sign-in can register the next passkey of its user, and of no other.
func TestAssertionRegistersTheNextPasskey(t *testing.T) {
	tokens := &rotatingKeys{issuer: fakeTokens{}}
	w := newPasskeyFixture(t, func(o *server.Options) {
		issuer, err := token.New(context.Background(), &keys{}, make([]byte, 32), token.Options{Issuer: publicURL, Now: o.Now})
		if err != nil {
			t.Fatal(err)
		}
		o.Tokens, tokens.next = tokens, issuer
	})
	a := w.enrol(bob)
	tokens.issuer = tokens.next
	var signedIn struct{ Assertion string }
	w.post("/auth/passkey/finish", asserted(t, a, w.startAuthentication(`{}`)), &signedIn)
	bearer := "Authorization: Bearer " + signedIn.Assertion
	second := passkeytest.New()
	w.post("/register/passkey/finish", attested(t, second, w.startRegistration(`{"userId":"`+bob+`"}`, bearer)), &struct{}{}, bearer)
	fails(t, w.do("POST", "/register/passkey/start", `{"userId":"`+ada+`"}`, bearer), 403, "forbidden")
	fails(t, w.do("POST", "/register/passkey/start", `{"userId":"`+bob+`"}`, bearer+"x"), 401, "invalid_token")
	w.pass(2 * time.Hour)
	fails(t, w.do("POST", "/register/passkey/start", `{"userId":"`+bob+`"}`, bearer), 401, "invalid_token")
}
