package server_test

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// provider makes an identity provider, and returns its id.
func (h *testServer) provider(handle string) string {
	h.t.Helper()
	return h.create("/identity-providers", `{"handle":"`+handle+`","name":"Example `+handle+`","issuer":"https://`+handle+`.example.com","clientId":"postern"}`)
}

// link has the provider call a user something, and returns the id of that.
func (h *testServer) link(userID, handle, subject string) string {
	h.t.Helper()
	p, err := h.db.IdentityProvider(h.t.Context(), handle)
	if err != nil {
		h.t.Fatal(err)
	}
	i := schemas.Identity{ID: schemas.NewID(), UserID: userID, ProviderID: p.ID, Subject: subject, Name: "grace@example.com", CreatedAt: h.clock()}
	h.apply(schemas.LinkIdentity{Identity: i})
	return i.ID
}

func TestIdentities(t *testing.T) {
	onBothStores(t, identities)
}

// Users see to what providers call them, and administrators to that of others.
func identities(t *testing.T, h *testServer) {
	id, other := h.user("grace"), h.user("alan")
	const at = "/users/me/identities"
	token := h.signIn(h.enrol(id))
	if list, _ := h.ok(200, "GET "+at, "", token); list.number("count") != 0 {
		t.Errorf("%v", list)
	}
	corp := h.provider("corp")
	h.provider("club")
	first, second, others := h.link(id, "corp", "s1"), h.link(id, "club", "s1"), h.link(other, "corp", "s2")
	h.apply(schemas.UseIdentity{ID: first, At: h.clock()})
	list, _ := h.ok(200, "GET "+at, "", token)
	all := list.list("identities")
	if len(all) != 2 || all[0].text("id") != first || all[0].text("provider.id") != corp || all[0].text("provider.handle") != "corp" ||
		all[0].text("provider.name") != "Example corp" || all[0].text("subject") != "s1" || all[0].text("name") != "grace@example.com" ||
		all[0].text("createdAt") == "" || all[0].text("lastUsedAt") == "" || all[1]["lastUsedAt"] != nil || len(all[0]) != 6 {
		t.Errorf("%v", list)
	}
	for _, wrong := range []string{others, "nope", "%00", strings.Repeat("x", 3000)} {
		fails(t, h.do("DELETE", at+"/"+wrong, "", token), 404, schemas.CodeIdentityNotFound)
	}
	for _, request := range []string{"GET /users/" + other + "/identities", "DELETE /users/" + other + "/identities/" + others, "GET /users/" + id + "/identities"} {
		method, path, _ := strings.Cut(request, " ")
		fails(t, h.do(method, path, "", token), 403, schemas.CodeForbidden)
		fails(t, h.do(method, path, "", "X: y"), 401, "unauthorized")
	}
	h.ok(204, "DELETE "+at+"/"+second, "", token)
	fails(t, h.do("DELETE", at+"/"+second, "", token), 404, schemas.CodeIdentityNotFound)
	lastWayIn(t, h, id, first, token)

	path := "/users/" + other + "/identities"
	if list, _ := h.ok(200, "GET "+path, ""); list.number("count") != 1 {
		t.Errorf("%v", list)
	}
	h.ok(204, "DELETE "+path+"/"+others, "") // also the last way in
	fails(t, h.do("GET", "/users/nope/identities", "", h.admin), 404, schemas.CodeUserNotFound)
	fails(t, h.do("DELETE", "/users/nope/identities/"+others, "", h.admin), 404, schemas.CodeUserNotFound)
	h.link(other, "corp", "s2")
	fails(t, h.do("DELETE", "/identity-providers/"+corp, "", h.admin), 409, schemas.CodeInUse)
	if gone, _ := h.ok(200, "DELETE /identity-providers/"+corp+"/identities", ""); gone.number("unlinked") != 1 {
		t.Errorf("%v", gone)
	}
	h.ok(204, "DELETE /identity-providers/"+corp, "")
	events, _ := h.ok(200, "GET /audit-events?action=identity.unlinked", "")
	if got := events.list("auditEvents"); len(got) != 3 || got[0].text("userId") != other {
		t.Errorf("%v", events)
	}
}

// lastWayIn has a user with one passkey and one identity remove either, and then both.
func lastWayIn(t *testing.T, h *testServer, id, identity, token string) {
	keys, _ := h.ok(200, "GET /users/me/passkeys", "", token)
	key := keys.list("passkeys")[0].text("id")
	h.ok(204, "DELETE /users/me/passkeys/"+key, "", token)
	fails(t, h.do("DELETE", "/users/me/identities/"+identity, "", token), 409, schemas.CodeLastCredential)
	h.giveFactors(id) // they open nothing by themselves
	fails(t, h.do("DELETE", "/users/me/identities/"+identity, "", token), 409, schemas.CodeLastCredential)
	h.ok(204, "DELETE /users/me/factors/totp", "", token)
	h.ok(204, "DELETE /users/me/factors/recovery-codes", "", token) // the identity is left
	h.enrol(id)
	h.ok(204, "DELETE /users/me/identities/"+identity, "", token)
	keys, _ = h.ok(200, "GET /users/me/passkeys", "", token)
	fails(t, h.do("DELETE", "/users/me/passkeys/"+keys.list("passkeys")[0].text("id"), "", token), 409, schemas.CodeLastCredential)
}
