package server_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// Tests of finding 16 of the security audit of November 2026.

// listed is a credential of allowCredentials.
type listed struct {
	Type, ID   string
	Transports []string
}

func (h *testServer) listed(body string) (list []listed, options string) {
	h.t.Helper()
	s := h.startAuthentication(body)
	var o struct {
		Challenge        string
		AllowCredentials []listed
	}
	if err := json.Unmarshal(s.Request, &o); err != nil {
		h.t.Fatal(err)
	}
	return o.AllowCredentials, strings.Replace(string(s.Request), o.Challenge, "", 1)
}

// A caller who knows a user's id cannot invalidate the sign-ins of that user at other clients. A
// client invalidates its own, with the session token or without.
func TestAudit16OthersCannotVoidASignIn(t *testing.T) {
	onBothStores(t, func(t *testing.T, h *testServer) {
		carl := h.user("carl")
		a := h.enrol(carl)
		named := `{"userId":"` + carl + `"}`
		first, second := asserted(t, a, h.startAuthentication(named)), asserted(t, a, h.startAuthentication(named, "User-Agent: Attacker/1"))
		h.post("/auth/passkey/finish", first, &struct{}{})
		h.post("/auth/passkey/finish", second, &struct{}{})
		old := h.startAuthentication(named)
		recent := h.startAuthentication(`{"userId":"` + carl + `","sessionToken":"` + old.SessionToken + `"}`)
		fails(t, h.do("POST", "/auth/passkey/finish", asJSON(t, asserted(t, a, old))), 400, schemas.CodeStaleSession)
		h.post("/auth/passkey/finish", asserted(t, a, recent), &struct{}{})
	})
}

// The list of credentials does not reveal whether a user exists or has a passkey.
func TestAudit16ListsDoNotRevealUsers(t *testing.T) {
	onBothStores(t, func(t *testing.T, h *testServer) {
		carl, bare, nobody := h.user("carl"), h.user("bare"), schemas.NewID()
		a := h.enrol(carl)
		own, _ := h.listed(`{"userId":"` + carl + `"}`)
		if len(own) != 1 || own[0].ID != schemas.Bytes(a.Credentials()[0].ID).String() || !slices.Equal(own[0].Transports, []string{"hybrid", "internal", "nfc", "usb"}) {
			t.Errorf("a passkey is listed as %+v", own)
		}
		for name, id := range map[string]string{"a user without a passkey": bare, "an unknown id": nobody, "no id at all": "nobody", "another letter case": strings.ToUpper(carl)} {
			body := `{"userId":"` + id + `"}`
			list, options := h.listed(body)
			if _, again := h.listed(body); again != options {
				t.Errorf("%s: the options change, which those of users do not:\n%s\n%s", name, options, again)
			}
			for _, c := range list {
				raw, err := schemas.ParseBytes(c.ID)
				if err != nil || c.Type != "public-key" || len(c.Transports) == 0 || len(raw) < 16 {
					t.Errorf("%s: a decoy looks like none: %+v", name, c)
				}
			}
			if len(list) == 0 || options == "" {
				t.Errorf("%s: nothing is listed", name)
			}
			// It goes as it goes with a user whose passkey signs wrongly.
			begun := h.startAuthentication(body)
			answer := asserted(t, a, started{Request: h.withChallengeOf(begun.Request), SessionToken: begun.SessionToken})
			credential := answer["publicKeyCredential"].(map[string]any)
			credential["id"] = list[0].ID
			delete(credential["response"].(map[string]any), "userHandle")
			f := fails(t, h.do("POST", "/auth/passkey/finish", asJSON(t, answer)), 400, schemas.CodePasskeyFailed)
			wrong := fails(t, h.do("POST", "/auth/passkey/finish", asJSON(t, asserted(t, a, h.startAuthentication(`{"userId":"`+carl+`"}`), passkeytest.BadSignature))), 400, schemas.CodePasskeyFailed)
			if f.Description != wrong.Description {
				t.Errorf("%s: %s, and with a user %s", name, f.Description.DefaultValue, wrong.Description.DefaultValue)
			}
		}
		if list, _ := h.listed(`{"userId":""}`); list != nil {
			t.Errorf("an empty userId asks for those of a user: %v", list)
		}
		if list, _ := h.listed(`{"userId":null}`); list != nil {
			t.Errorf("null asks for those of a user: %v", list)
		}
	})
}
