package server_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// signInWith returns the header with a token for accounts, of a sign-in of a user with credentials.
func (h *testServer) signInWith(user string, proofs ...schemas.Proof) string {
	h.t.Helper()
	since := schemas.ProvenSince(proofs, schemas.ProvenACR(proofs))
	session := schemas.Session{ID: schemas.NewID(), UserID: user, ApplicationID: h.accountApp(), ACR: schemas.ProvenACR(proofs), AMR: schemas.ProvenMethods(proofs),
		CreatedAt: since, ExpiresAt: h.clock().Add(time.Hour), Proofs: proofs}
	h.apply(schemas.StartSession{Session: session, At: h.clock()})
	return h.assertionHeader(schemas.Assertion{Subject: user, Audience: []string{h.accountApp(), h.base}, Session: session.ID, AuthTime: since,
		AMR: session.AMR, ACR: session.ACR, Generation: h.generation(h.accountApp())})
}

// proves is the proof of a credential that was used now.
func (h *testServer) proves(kind schemas.ProofKind, of, acr string, methods ...string) schemas.Proof {
	p := schemas.Proof{Kind: kind, Of: of, At: h.clock()}
	return p.Proving(methods, acr)
}

func (h *testServer) byPassword(of string) schemas.Proof {
	return h.proves(schemas.PasswordProof, of, schemas.ACRPassword, "pwd")
}

func (h *testServer) byPasskey(of string) schemas.Proof {
	return h.proves(schemas.PasskeyProof, of, schemas.ACRMultiFactorPR, "pop", "user", "mfa")
}

// passwordID is the id of the password of a user.
func (h *testServer) passwordID(user string) string {
	h.t.Helper()
	p, err := h.db.Password(h.t.Context(), user)
	if err != nil {
		h.t.Fatal(err)
	}
	return p.ID
}

// thief adds to the account of a user all that a sign-in with a password can add, and a passkey with the
// identity, and returns the types of the additions.
func (h *testServer) thief(user, password string) []string {
	h.t.Helper()
	by := schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}, Proofs: []schemas.Proof{{Kind: schemas.PasswordProof, Of: password}}}
	p, err := h.db.IdentityProvider(h.t.Context(), "corp")
	if err != nil {
		h.t.Fatal(err)
	}
	identity := schemas.Identity{ID: schemas.NewID(), UserID: user, ProviderID: p.ID, Subject: "thief of " + user, Name: "thief", CreatedAt: h.clock(), AddedBy: by}
	app := schemas.TOTP{UserID: user, Secret: []byte("sealed"), CreatedAt: h.clock(), AddedBy: by}
	key := func(name string, by schemas.Provenance) schemas.CreateCredential {
		return schemas.CreateCredential{Credential: schemas.Credential{ID: schemas.Bytes(name + user), UserID: user, Name: name, CreatedAt: h.clock(), AddedBy: by}}
	}
	later := schemas.Provenance{ACR: schemas.ACRVouched, Methods: []string{"fed"}, Proofs: []schemas.Proof{{Kind: schemas.IdentityProof, Of: identity.ID}}}
	h.apply(key("by the password", by), schemas.LinkIdentity{Identity: identity}, key("by the identity", later), schemas.SetTOTP{TOTP: app},
		schemas.SetRecoveryCodes{UserID: user, Hashes: [][]byte{schemas.HashSecret(user)}, At: h.clock(), AddedBy: by},
		schemas.UpdateUser{UserID: user, Attributes: map[string]any{"email": "thief@" + user + ".example", "email_verified": true}, At: h.clock(), AddedBy: by})
	return []string{"email", "identity", "passkey", "passkey", "recovery-codes", "totp"}
}

// typesOf returns the sorted types of what a reply lists.
func typesOf(reply members) (types []string) {
	for _, a := range reply.list("addedWithFormerPassword") {
		types = append(types, a.text("type"))
	}
	slices.Sort(types)
	return types
}

// idsOf returns the ids of the type in a reply, as JSON.
func idsOf(reply members, kind string) string {
	ids := []string{}
	for _, a := range reply.list("addedWithFormerPassword") {
		if a.text("type") == kind {
			ids = append(ids, a.text("id"))
		}
	}
	text, _ := json.Marshal(ids)
	return string(text)
}

// Every change of a password shows what the former one alone has added, directly or through other additions.
func TestPasswordChangesShowWhatTheFormerOneAdded(t *testing.T) {
	onAccountServers(t, func(t *testing.T, h *testServer) {
		h.provider("corp")
		for name, change := range map[string]func(user, own string) members{
			"the user": func(user, own string) members {
				reply, _ := h.ok(200, "PUT /users/me/password", `{"password":"another lantern in the harbour"}`, h.signInWith(user, h.byPasskey(own)))
				return reply
			},
			"an administrator with a patch": func(user, _ string) members {
				reply, _ := h.ok(200, "PATCH /users/"+user, `{"attributes":{"password":"another lantern in the harbour"}}`)
				return reply
			},
			"an administrator": func(user, _ string) members {
				reply, _ := h.ok(200, "PUT /users/"+user, `{"type":"Person","attributes":{"username":"`+h.userName(user)+`","email":"thief@`+user+`.example","email_verified":true,"password":"another lantern in the harbour"}}`)
				return reply
			},
		} {
			user := h.user(strings.ReplaceAll(name, " ", "-"))
			own := h.enrol(user)
			h.apply(schemas.SetPassword{UserID: user, ID: "leaked", Hash: "plain:leaked", At: h.clock()})
			want := h.thief(user, "leaked")
			h.pass(time.Minute)
			key := schemas.Bytes(own.Credentials()[0].ID).String()
			if got := typesOf(change(user, key)); !slices.Equal(got, want) {
				t.Errorf("after a change by %s: %v, expected %v", name, got, want)
			}
			for _, list := range []string{"GET /users/" + user + "/former-password", "GET /users/me/former-password"} {
				headers := []string{}
				if strings.Contains(list, "/me/") {
					headers = []string{h.signInWith(user, h.byPasskey(key))}
				}
				if reply, _ := h.ok(200, list, "", headers...); !slices.Equal(typesOf(reply), want) {
					t.Errorf("%s after a change by %s: %v", list, name, reply)
				}
			}
			if events, _ := h.ok(200, "GET /audit-events?action=addition.marked&user="+user, ""); len(events.list("auditEvents")) != 4 {
				t.Errorf("events after a change by %s: %v", name, events)
			}
		}
		h.ok(204, "PUT /users/me/password", `{"password":"another lantern in the harbour"}`, h.signIn(h.enrol(h.user("nothing"))))
	})
}

func (h *testServer) userName(user string) string {
	u, _ := h.ok(200, "GET /users/"+user, "")
	return u.text("attributes.username")
}

// What a former password added is kept or removed by an explicit choice, after a sign-in that is stronger
// than a password and does not rest on what is to be decided.
func TestFormerPasswordDecisions(t *testing.T) {
	onAccountServers(t, func(t *testing.T, h *testServer) {
		h.provider("corp")
		user := h.user("ada")
		own := schemas.Bytes(h.enrol(user).Credentials()[0].ID).String()
		h.apply(schemas.SetPassword{UserID: user, ID: "leaked", Hash: "plain:leaked", At: h.clock()})
		h.thief(user, "leaked")
		h.pass(time.Minute)
		h.ok(200, "PATCH /users/"+user, `{"attributes":{"password":"another lantern in the harbour"}}`)
		listed, _ := h.ok(200, "GET /users/"+user+"/former-password", "")
		app, err := h.db.TOTP(t.Context(), user)
		if err != nil {
			t.Fatal(err)
		}
		const decide = "POST /users/me/former-password"
		all := `{"keep":` + idsOf(listed, "passkey") + `,"remove":` + idsOf(listed, "identity") + `}`
		theirs := h.proves(schemas.TOTPProof, schemas.ProofOfTOTP(app).Of, schemas.ACROneTimeCode, "otp")
		marked := h.proves(schemas.PasskeyProof, schemas.Bytes("by the password"+user).String(), schemas.ACRMultiFactorPR, "pop", "user", "mfa")
		old := h.byPasskey(own)
		old.At = old.At.Add(-10 * time.Minute)
		for name, test := range map[string]struct {
			proofs     []schemas.Proof
			body, code string
			status     int
		}{
			"a password":                           {[]schemas.Proof{h.byPassword(h.passwordID(user))}, all, schemas.CodeFactorRequired, 403},
			"a password and a marked app":          {[]schemas.Proof{h.byPassword(h.passwordID(user)), theirs}, all, schemas.CodeStaleProof, 401},
			"a marked passkey":                     {[]schemas.Proof{marked}, all, schemas.CodeStaleProof, 401},
			"an old sign-in with a passkey":        {[]schemas.Proof{old}, all, schemas.CodeStaleProof, 401},
			"an old passkey and a recent password": {[]schemas.Proof{old, h.byPassword(h.passwordID(user)), theirs}, all, schemas.CodeStaleProof, 401},
			"nothing to decide":                    {[]schemas.Proof{h.byPasskey(own)}, `{}`, schemas.CodeInvalidRequest, 400},
			"the own passkey":                      {[]schemas.Proof{h.byPasskey(own)}, `{"remove":["` + own + `"]}`, schemas.CodeAdditionNotFound, 404},
			"both":                                 {[]schemas.Proof{h.byPasskey(own)}, `{"keep":["totp"],"remove":["totp"]}`, schemas.CodeInvalidRequest, 400},
		} {
			rec := h.request(decide, test.body, h.signInWith(user, test.proofs...))
			if rec.Code != test.status || errorCode(rec.Body.String()) != test.code {
				t.Errorf("%s: %d %s, expected %d %s", name, rec.Code, rec.Body, test.status, test.code)
			}
		}
		if again, _ := h.ok(200, "GET /users/"+user+"/former-password", ""); len(again.list("addedWithFormerPassword")) != 6 {
			t.Errorf("a refused decision changed something: %v", again)
		}
		token := h.signInWith(user, h.byPasskey(own))
		if left, _ := h.ok(200, decide, all, token); !slices.Equal(typesOf(left), []string{"email", "recovery-codes", "totp"}) {
			t.Errorf("%v", left)
		}
		if left, _ := h.ok(200, decide, `{"keep":["recovery-codes"],"remove":["totp","email"]}`, token); len(left.list("addedWithFormerPassword")) != 0 {
			t.Errorf("%v", left)
		}
		keys, _ := h.ok(200, "GET /users/me/passkeys", "", token)
		for _, key := range keys.list("passkeys") {
			if key["formerPassword"] != nil || key["limit"] != nil {
				t.Errorf("a kept passkey is still limited: %v", key)
			}
		}
		identities, _ := h.ok(200, "GET /users/me/identities", "", token)
		factors, _ := h.ok(200, "GET /users/me/factors", "", token)
		if len(keys.list("passkeys")) != 3 || len(identities.list("identities")) != 0 || len(factors.list("factors")) != 1 {
			t.Errorf("%v %v %v", keys, identities, factors)
		}
		if me, _ := h.ok(200, "GET /users/me", "", token); me.text("attributes.email") != "" {
			t.Errorf("the address is still %v", me)
		}
		if events, _ := h.ok(200, "GET /audit-events?action=addition.kept", ""); len(events.list("auditEvents")) != 3 {
			t.Errorf("%v", events)
		}
	})
}

// What a former password added does not count as a way to sign in, and the last way is not removed.
func TestFormerPasswordKeepsTheLastWayIn(t *testing.T) {
	onAccountServers(t, func(t *testing.T, h *testServer) {
		h.provider("corp")
		user := h.user("bea")
		h.apply(schemas.SetPassword{UserID: user, ID: "leaked", Hash: "plain:leaked", At: h.clock()})
		by := schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}, Proofs: []schemas.Proof{{Kind: schemas.PasswordProof, Of: "leaked"}}}
		key := schemas.Credential{ID: schemas.Bytes("key"), UserID: user, Name: "key", CreatedAt: h.clock(), AddedBy: by}
		h.apply(schemas.CreateCredential{Credential: key})
		fails(t, h.request("DELETE /users/me/password", "", h.signInWith(user, h.byPassword("leaked"))), 409, schemas.CodeLastCredential)
		h.ok(204, "DELETE /users/me/password", "", h.signInWith(user, h.byPassword("leaked"), h.byPasskey(key.ID.String())))
		if list, _ := h.ok(200, "GET /users/"+user+"/former-password", ""); len(list.list("addedWithFormerPassword")) != 0 {
			t.Errorf("a passkey that the user has just used is marked: %v", list)
		}

		mail := h.create("/users", `{"type":"Person","attributes":{"email":"own@example.com"}}`) // without a username
		h.apply(schemas.SetPassword{UserID: mail, ID: "other", Hash: "plain:leaked", At: h.clock()})
		h.thief(mail, "other")
		h.ok(200, "PATCH /users/"+mail, `{"attributes":{"password":"another lantern in the harbour"}}`)
		strong := h.signInWith(mail, h.byPasskey(schemas.Bytes("another").String()))
		fails(t, h.request("POST /users/me/former-password", `{"remove":["email"]}`, strong), 409, schemas.CodeLastCredential)
		h.apply(schemas.RemovePassword{UserID: mail, At: h.clock()})
		strong = h.signInWith(mail, h.byPasskey(schemas.Bytes("another").String()))
		listed, _ := h.ok(200, "GET /users/"+mail+"/former-password", "")
		keys := strings.Trim(idsOf(listed, "passkey"), "[]") + "," + strings.Trim(idsOf(listed, "identity"), "[]")
		fails(t, h.request("POST /users/me/former-password", `{"remove":[`+keys+`]}`, strong), 409, schemas.CodeLastCredential)
		if again, _ := h.ok(200, "GET /users/"+mail+"/former-password", ""); !slices.Equal(typesOf(again), typesOf(listed)) {
			t.Errorf("a refused removal changed something: %v", again)
		}
	})
}
