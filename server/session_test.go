package server_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
)

// An invalid credential consumes the session too.
func TestBadCredentialsEndTheSession(t *testing.T) {
	w := newPasskeyFixture(t)
	a := w.enrol(ada)
	with := func(name string, value any) map[string]any {
		r := map[string]any{"clientDataJSON": "e30", "authenticatorData": "AA", "signature": "AA"}
		r[name] = value
		return r
	}
	valid := with("future", true)
	tests := []struct {
		name       string
		credential any
		code, says string
	}{
		{"none", nil, schemas.CodeInvalidRequest, `"publicKeyCredential" is missing`},
		{"a string", "x", schemas.CodeInvalidRequest, "publicKeyCredential: expected an object, got a string"},
		{"empty", map[string]any{}, schemas.CodeInvalidRequest, `"id" is missing`},
		{"wrong type", map[string]any{"id": "eA", "type": "password", "response": valid}, schemas.CodeInvalidRequest, `publicKeyCredential.type: expected "public-key"`},
		{"a number for an id", map[string]any{"id": 7, "response": valid}, schemas.CodeInvalidRequest, "publicKeyCredential.id: expected a string, got a number"},
		{"a list for a response", map[string]any{"id": "eA", "response": []any{}}, schemas.CodeInvalidRequest, "publicKeyCredential.response: expected an object, got a list"},
		{"no signature", map[string]any{"id": "eA", "response": with("signature", nil)}, schemas.CodeInvalidRequest, `"signature" is missing`},
		{"a signature that is true", map[string]any{"id": "eA", "response": with("signature", true)}, schemas.CodeInvalidRequest, "publicKeyCredential.response.signature: expected a string, got true or false"},
		{"a list for a user handle", map[string]any{"id": "eA", "response": with("userHandle", []any{1})}, schemas.CodeInvalidRequest, "publicKeyCredential.response.userHandle: expected a string, got a list"},
		{"not base64url", map[string]any{"id": "*", "response": valid}, schemas.CodePasskeyFailed, "id"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			good := asserted(t, a, w.startAuthentication(`{}`))
			bad := map[string]any{"sessionToken": good["sessionToken"], "publicKeyCredential": tt.credential}
			f := fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, bad)), 400, tt.code)
			if !strings.Contains(f.Description.DefaultValue, tt.says) {
				t.Errorf("%q does not tell %q", f.Description.DefaultValue, tt.says)
			}
			fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, good)), 400, schemas.CodeStaleSession)
		})
	}
}

// Another user with the session token neither finishes the ceremony nor leaves it for another try.
func TestStolenRegistrationTokenIsBurned(t *testing.T) {
	w := newPasskeyFixture(t)
	body := asJSON(t, attested(t, passkeytest.New(), w.startRegistration(`{"userId":"`+ada+`"}`, adaToken)))
	fails(t, w.do("POST", "/register/passkey/finish", body, bobToken), 403, "forbidden")
	fails(t, w.do("POST", "/register/passkey/finish", body, adaToken), 400, schemas.CodeStaleSession)
}

func TestSessionTokens(t *testing.T) {
	w := newPasskeyFixture(t, func(o *server.Options) { o.SessionTTL = time.Minute })
	a, b := w.enrol(ada), w.enrol(bob)
	authenticate := func(body map[string]any) int {
		return w.do("POST", "/auth/passkey/finish", asJSON(t, body)).Code
	}
	register := func(body map[string]any) int {
		return w.do("POST", "/register/passkey/finish", asJSON(t, body), system).Code
	}
	named := `{"userId":"` + ada + `"}`

	t.Run("are 256 bits and kept as a hash", func(t *testing.T) {
		s := w.startAuthentication(named)
		raw, err := schemas.ParseBytes(s.SessionToken)
		if err != nil || len(raw) != 32 {
			t.Errorf("%d bytes, %v", len(raw), err)
		}
		for _, kept := range w.store.sessions {
			if strings.Contains(asJSON(t, kept), s.SessionToken) || string(kept.TokenHash) == string(raw) {
				t.Error("the token itself is kept")
			}
		}
	})
	t.Run("serve once", func(t *testing.T) {
		body := asserted(t, a, w.startAuthentication(named))
		if first, second := authenticate(body), authenticate(body); first != 200 || second != 400 {
			t.Errorf("first %d, second %d", first, second)
		}
	})
	t.Run("are burned by a failure", func(t *testing.T) {
		s := w.startAuthentication(named)
		if first, second := authenticate(asserted(t, a, s, passkeytest.BadSignature)), authenticate(asserted(t, a, s)); first != 400 || second != 400 {
			t.Errorf("first %d, second %d", first, second)
		}
	})
	t.Run("only the newest registration of a user", func(t *testing.T) {
		old := attested(t, passkeytest.New(), w.startRegistration(named, adaToken))
		recent := attested(t, passkeytest.New(), w.startRegistration(named, system))
		if first, second := register(old), register(recent); first != 400 || second != 200 {
			t.Errorf("registration: old %d, recent %d", first, second)
		}
	})
	t.Run("are void for none but their user", func(t *testing.T) {
		s := asserted(t, a, w.startAuthentication(named))
		anonymous := asserted(t, a, w.startAuthentication(`{}`))
		w.startAuthentication(`{"userId":"` + bob + `"}`)
		w.startAuthentication(`{}`)
		w.startRegistration(named, system)
		if first, second := authenticate(s), authenticate(anonymous); first != 200 || second != 200 {
			t.Errorf("named %d, anonymous %d", first, second)
		}
	})
	t.Run("are void when their client starts again for the same user", func(t *testing.T) {
		old, elsewhere := w.startAuthentication(named), w.startAuthentication(named, "User-Agent: another browser")
		recent := w.startAuthentication(named)
		for _, tt := range []struct {
			of   started
			want int
		}{{old, 400}, {recent, 200}, {elsewhere, 200}} {
			if code := authenticate(asserted(t, a, tt.of)); code != tt.want {
				t.Errorf("got %d, expected %d", code, tt.want)
			}
		}
	})
	t.Run("are void when their client starts again with their token", func(t *testing.T) {
		old := w.startAuthentication(`{}`)
		again := `{"sessionToken":"` + old.SessionToken + `"}`
		recent := w.startAuthentication(again)
		other := w.startAuthentication(again) // stale by now, and no mistake
		if first, second, third := authenticate(asserted(t, a, old)), authenticate(asserted(t, a, recent)), authenticate(asserted(t, a, other)); first != 400 || second != 200 || third != 200 {
			t.Errorf("old %d, recent %d, other %d", first, second, third)
		}
		kept := w.startAuthentication(`{}`)
		fails(t, w.do("POST", "/auth/passkey/start", `{"relyingPartyId":"evil.example.org","sessionToken":"`+kept.SessionToken+`"}`), 400, schemas.CodePasskeyConfig)
		if code := authenticate(asserted(t, a, kept)); code != 200 {
			t.Errorf("a start that failed voided the older one: %d", code)
		}
	})
	t.Run("are burned by a body that is refused", func(t *testing.T) {
		for _, change := range []func(body map[string]any){
			func(body map[string]any) { body["foo"] = 1 },
			func(body map[string]any) { delete(body, "publicKeyCredential") },
		} {
			good := asserted(t, a, w.startAuthentication(`{}`))
			bad := maps.Clone(good)
			change(bad)
			fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, bad)), 400, schemas.CodeInvalidRequest)
			fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, good)), 400, schemas.CodeStaleSession)
		}
	})
	t.Run("are bound to their ceremony", func(t *testing.T) {
		s, r := w.startAuthentication(named), w.startRegistration(named, system)
		body := asserted(t, a, s)
		body["sessionToken"] = r.SessionToken
		f := fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, body)), 400, schemas.CodeStaleSession)
		if !strings.Contains(f.Description.DefaultValue, "passkey registration") {
			t.Error(f.Description.DefaultValue)
		}
		made := attested(t, passkeytest.New(), r)
		made["sessionToken"] = s.SessionToken
		fails(t, w.do("POST", "/register/passkey/finish", asJSON(t, made), system), 400, schemas.CodeStaleSession)
		if authenticate(asserted(t, a, s)) != 400 || register(attested(t, passkeytest.New(), r)) != 400 {
			t.Error("tokens tried on the other ceremony still serve")
		}
	})
	t.Run("are bound to their user", func(t *testing.T) {
		s := w.startAuthentication(named)
		s.Request = w.withChallengeOf(s.Request)
		body := asserted(t, b, s)
		fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, body)), 400, schemas.CodePasskeyFailed)
	})
	t.Run("expire", func(t *testing.T) {
		body := asserted(t, a, w.startAuthentication(named))
		w.pass(time.Minute)
		fails(t, w.do("POST", "/auth/passkey/finish", asJSON(t, body)), 400, schemas.CodeStaleSession)
	})
}

// A ceremony belongs to one relying party: a start for another one leaves it alone, and one for the same
// makes it stale, whether the id is the default or named.
func TestSessionsOfRelyingParties(t *testing.T) {
	const parent, own = "example.com", "app.example.com"
	for _, tt := range []struct {
		name, first, second string
		want                int // the reply to the finish of the first
	}{
		{"the default twice", "", "", 400},
		{"the default, then its name", "", parent, 400},
		{"the default by name, then unnamed", parent, "", 400},
		{"another twice", own, own, 400},
		{"the default, then another", "", own, 200},
		{"another, then the default", own, parent, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newPasskeyFixture(t)
			start := func(rpID string) string { return `{"userId":"` + ada + `","relyingPartyId":"` + rpID + `"}` }
			a := passkeytest.New()
			registering := attested(t, a, w.startRegistration(start(tt.first), adaToken))
			w.startRegistration(start(tt.second), adaToken)
			if code := w.do("POST", "/register/passkey/finish", asJSON(t, registering), adaToken).Code; code != tt.want {
				t.Errorf("the registration: %d, expected %d", code, tt.want)
			}
			if tt.want == 400 { // the passkey to sign in with
				w.post("/register/passkey/finish", attested(t, a, w.startRegistration(start(tt.first), adaToken)), &struct{}{}, adaToken)
			}
			signingIn := asserted(t, a, w.startAuthentication(start(tt.first)))
			w.startAuthentication(start(tt.second))
			if code := w.do("POST", "/auth/passkey/finish", asJSON(t, signingIn)).Code; code != tt.want {
				t.Errorf("the authentication: %d, expected %d", code, tt.want)
			}
		})
	}
}

// withChallengeOf leaves out allowCredentials, so that any authenticator
// answers the challenge.
func (w *passkeyFixture) withChallengeOf(options json.RawMessage) json.RawMessage {
	var o map[string]any
	if err := json.Unmarshal(options, &o); err != nil {
		w.t.Fatal(err)
	}
	delete(o, "allowCredentials")
	return json.RawMessage(asJSON(w.t, o))
}

func TestOneOfSixteenFinishesWins(t *testing.T) {
	w := newPasskeyFixture(t)
	a := w.enrol(ada)
	for range 20 {
		body := asJSON(t, asserted(t, a, w.startAuthentication(`{}`)))
		codes := make([]int, 16)
		var wg sync.WaitGroup
		for i := range codes {
			wg.Go(func() { codes[i] = w.do("POST", "/auth/passkey/finish", body).Code })
		}
		wg.Wait()
		slices.Sort(codes)
		if codes[0] != 200 || codes[1] != 400 || codes[15] != 400 {
			t.Fatalf("replies %v", codes)
		}
	}
}
