package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

func TestFactors(t *testing.T) {
	onBothStores(t, ownFactors)
}

// giveFactors gives a user an app and recovery codes.
func (h *testServer) giveFactors(userID string) {
	h.t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h.apply(
		schemas.SetTOTP{TOTP: schemas.TOTP{UserID: userID, Secret: []byte("sealed"), CreatedAt: at}},
		schemas.SetRecoveryCodes{UserID: userID, Hashes: [][]byte{schemas.HashSecret("a"), schemas.HashSecret("b")}, At: at},
		schemas.UseRecoveryCode{UserID: userID, Hash: schemas.HashSecret("a"), At: at},
	)
}

// removePasskeys leaves a user none.
func (h *testServer) removePasskeys(userID string) {
	h.t.Helper()
	keys, _ := h.ok(200, "GET /users/"+userID+"/passkeys", "")
	for _, key := range keys.list("passkeys") {
		h.ok(204, "DELETE /users/"+userID+"/passkeys/"+key.text("id"), "")
	}
}

// Users see to their own second factors, with a sign-in by something they hold.
func ownFactors(t *testing.T, h *testServer) {
	id, other, boss := h.user("grace"), h.user("alan"), h.user("boss")
	h.enrol(boss)
	h.giveFactors(boss)
	const at = "/users/me/factors"
	byPasskey, bare := h.signIn(h.enrol(id)), h.at(h.accountApp(), id) // the latter contains no methods
	if list, _ := h.ok(200, "GET "+at, "", byPasskey); list.number("count") != 0 {
		t.Errorf("%v", list)
	}
	fails(t, h.do("DELETE", at+"/totp", "", byPasskey), 404, "factor_not_found")
	h.giveFactors(id)
	h.giveFactors(other)
	list, rec := h.ok(200, "GET "+at, "", bare)
	all := list.list("factors")
	if len(all) != 2 || all[0].text("type") != "totp" || all[0]["lastUsedAt"] != nil || all[1].text("type") != "recovery-codes" || all[1].number("left") != 1 || all[1].number("total") != 2 {
		t.Errorf("%v", list)
	}
	if strings.Contains(rec.Body.String(), "sealed") {
		t.Errorf("the list reveals the secret: %s", rec.Body)
	}
	for _, factor := range []string{"totp", "recovery-codes"} {
		fails(t, h.do("DELETE", at+"/"+factor, "", bare), 403, "second_factor_required")
		fails(t, h.do("DELETE", "/users/"+boss+"/factors/"+factor, "", h.bearer(boss, "system")), 401, schemas.CodeStaleProof)
		fails(t, h.do("DELETE", "/users/"+other+"/factors/"+factor, "", byPasskey), 403, schemas.CodeForbidden)
	}
	fails(t, h.do("DELETE", at+"/password", "", byPasskey), 404, "factor_not_found")

	h.ok(204, "DELETE "+at+"/totp", "", byPasskey)
	h.removePasskeys(id) // which ends the session that began with one
	fails(t, h.do("GET", at, "", byPasskey), 401, "invalid_token")
	byCode := h.atBy(h.accountApp(), id, []string{"pwd", "otp", "mfa"})
	fails(t, h.do("DELETE", at+"/recovery-codes", "", byCode), 409, schemas.CodeLastCredential)
	h.enrol(id)
	h.ok(204, "DELETE "+at+"/recovery-codes", "", byCode)
	if list, _ := h.ok(200, "GET "+at, "", byCode); list.number("count") != 0 {
		t.Errorf("%v", list)
	}

	// Administrators take away what is lost, and see what there is.
	path := "/users/" + other + "/factors"
	if list, _ := h.ok(200, "GET "+path, ""); list.number("count") != 2 {
		t.Errorf("%v", list)
	}
	h.ok(204, "DELETE "+path+"/totp", "")
	h.ok(204, "DELETE "+path+"/recovery-codes", "") // also the last
	fails(t, h.do("DELETE", path+"/totp", "", h.admin), 404, "factor_not_found")
	fails(t, h.do("GET", "/users/nope/factors", "", h.admin), 404, schemas.CodeUserNotFound)
	events, _ := h.ok(200, "GET /audit-events?action=totp.deleted", "")
	if len(events.list("auditEvents")) != 2 {
		t.Errorf("%v", events)
	}
}

// own is the header of a fresh sign-in of a user for accounts.
func (h *testServer) own(userID, acr string, methods ...string) string {
	h.t.Helper()
	return h.assertionHeader(schemas.Assertion{
		Subject: userID, Audience: []string{h.accountApp(), h.base}, AuthTime: h.clock(), AMR: methods, ACR: acr, Generation: h.generation(h.accountApp()),
	})
}

// offerTOTP starts to set up an app, and returns the body that finishes it.
func (h *testServer) offerTOTP(header string) (finish, wrong string) {
	h.t.Helper()
	offer, _ := h.ok(200, "POST /users/me/factors/totp/start", "", header)
	key := totp.Key{Secret: offer.text("secret"), Algorithm: totp.SHA1, Digits: 6}
	code, err := key.Code(h.clock())
	if err != nil {
		h.t.Fatal(err)
	}
	if !strings.Contains(offer.text("uri"), key.Secret) || !strings.HasPrefix(offer.text("qrCode"), "data:image/png;base64,") {
		h.t.Errorf("%v", offer)
	}
	body := func(code string) string {
		return `{"sessionToken":"` + offer.text("sessionToken") + `","code":"` + code + `"}`
	}
	return body(code), body("x" + code[1:])
}

// limits are the limits of a user's factors, by type.
func (h *testServer) limits(header string) map[string]string {
	h.t.Helper()
	found := map[string]string{}
	list, _ := h.ok(200, "GET /users/me/factors", "", header)
	for _, factor := range list.list("factors") {
		limit, _ := factor["limit"].(string)
		found[factor.text("type")] = limit
	}
	return found
}

// Users set up an app and recovery codes. Both prove no more than the sign-in that added them, and a
// user who has one needs more than a password to add another.
func TestSetUpFactors(t *testing.T) {
	onBothStores(t, func(t *testing.T, h *testServer) {
		const app, codes = "POST /users/me/factors/totp/finish", "POST /users/me/factors/recovery-codes/finish"
		id := h.user("grace")
		byPassword, byPasskey := h.own(id, schemas.ACRPassword, "pwd"), h.own(id, schemas.ACRMultiFactorPR, "swk", "pop", "user", "mfa")
		right, wrong := h.offerTOTP(byPassword)
		offered, _ := h.ok(200, "POST /users/me/factors/recovery-codes/start", "", byPassword)
		saved := `{"sessionToken":"` + offered.text("sessionToken") + `"}`
		if got := h.limits(byPassword); len(got) > 0 {
			t.Errorf("an offer is a factor already: %v", got)
		}
		if f := fails(t, h.request(app, wrong, byPassword), 400, schemas.CodeInvalidRequest); len(f.Errors) != 1 || f.Errors[0].Path != "code" {
			t.Errorf("a wrong code: %+v", f)
		}
		if f := fails(t, h.request(app, `{}`, byPassword), 400, schemas.CodeInvalidRequest); len(f.Errors) != 2 {
			t.Errorf("an empty body: %+v", f)
		}
		fails(t, h.request(app, saved[:len(saved)-1]+`,"code":"1"}`, byPassword), 400, schemas.CodeStaleSession)
		fails(t, h.request(app, right, h.own(h.user("eve"), schemas.ACRPassword, "pwd")), 400, schemas.CodeStaleSession)
		h.ok(204, app, right, byPassword)

		// The app was added after a password: it is worth no more, and the password adds no other factor.
		if got := h.limits(byPassword); len(got) != 1 || got["totp"] != schemas.ACRPassword {
			t.Errorf("the limits are %v", got)
		}
		fails(t, h.request(codes, saved, byPassword), 403, schemas.CodeFactorRequired)
		fails(t, h.request("POST /users/me/factors/totp/start", "", byPassword), 403, schemas.CodeFactorRequired)
		h.ok(204, codes, saved, byPasskey)
		right, _ = h.offerTOTP(byPasskey)
		h.ok(204, app, right, byPasskey)
		if got := h.limits(byPasskey); len(got) != 2 || got["totp"]+got["recovery-codes"] != "" {
			t.Errorf("after a passkey the limits are %v", got)
		}
		list := offered["recoveryCodes"].([]any)
		found, err := h.db.RecoveryCode(t.Context(), id, nodes.HashRecoveryCode(list[9].(string)))
		if err != nil || found == nil || len(list) != 10 || found.AddedBy.ACR != schemas.ACRMultiFactorPR {
			t.Errorf("the code %v: %+v, %v", list[9], found, err)
		}
		for action, want := range map[string]int{"totp.registered": 2, "recovery.issued": 1} {
			events, err := h.db.Events(t.Context(), schemas.EventQuery{Limit: 9, Action: action, UserID: id})
			if err != nil || len(events) != want || events[0].Actor.ID != id {
				t.Errorf("%s: recorded %+v, %v", action, events, err)
			}
		}
	})
}
