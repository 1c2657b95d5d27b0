package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

func TestFactors(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { ownFactors(t, newTestServer(t)) })
	t.Run("postgres", func(t *testing.T) { ownFactors(t, newOpenServer(t, "postgres", storetest.Postgres(t))) })
}

// giveFactors gives a user an app and recovery codes.
func (h *testServer) giveFactors(userID string) {
	h.t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	err := h.db.Apply(h.t.Context(), []schemas.Change{
		schemas.SetTOTP{TOTP: schemas.TOTP{UserID: userID, Secret: []byte("sealed"), CreatedAt: at}},
		schemas.SetRecoveryCodes{UserID: userID, Hashes: [][]byte{schemas.HashSecret("a"), schemas.HashSecret("b")}, At: at},
		schemas.UseRecoveryCode{UserID: userID, Hash: schemas.HashSecret("a"), At: at},
	})
	if err != nil {
		h.t.Fatal(err)
	}
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
	id, other := h.user("grace"), h.user("alan")
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
		fails(t, h.do("DELETE", "/users/"+id+"/factors/"+factor, "", h.bearer(id, "system")), 401, schemas.CodeStaleProof)
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
