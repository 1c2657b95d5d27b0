package server_test

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

const mergePatch = "Content-Type: application/merge-patch+json"

// patchOf is a patch of an optional member of each kind of resource, and the patch that
// removes it. A flow has no optional member that stands alone, so its name is changed.
func patchOf(n directory.Noun, value string) (set, remove string) {
	switch n.Plural {
	case "users":
		return `{"attributes":{"given_name":"` + value + `"}}`, `{"attributes":{"given_name":null}}`
	case "flows":
		return `{"name":"` + value + `"}`, `{"name":"A flow"}`
	case "identityProviders":
		return `{"tokenEndpointAuthMethod":"client_secret_post"}`, `{"tokenEndpointAuthMethod":null}`
	}
	return `{"description":"` + value + `"}`, `{"description":null}`
}

func TestPatchChangesWhatItNamesAlone(t *testing.T) {
	onBothStores(t, func(t *testing.T, h *testServer) { eachNoun(t, h, patches) })
}

func patches(t *testing.T, h *testServer, n directory.Noun, s sample) {
	made, _ := h.ok(201, "POST "+n.Path, numbered(s.body, "1"))
	at := n.Path + "/" + made.text("id")
	before, rec := h.ok(200, "GET "+at, "")
	tag := rec.Header().Get("ETag")
	if _, rec := h.ok(200, "PATCH "+at, `{}`, mergePatch); rec.Header().Get("ETag") != tag {
		t.Error("an empty patch changed the entity tag")
	}
	set, remove := patchOf(n, "Patched")
	patched, rec := h.ok(200, "PATCH "+at, set, mergePatch, "If-Match: "+tag)
	newer := rec.Header().Get("ETag")
	read, _ := h.ok(200, "GET "+at, "")
	if newer == tag || !reflect.DeepEqual(patched, read) {
		t.Errorf("tag %s, then %s; the reply is\n%v, not\n%v", tag, newer, patched, read)
	}
	if got, want := comparable(read), comparable(applied(t, before, set)); !reflect.DeepEqual(got, want) {
		t.Errorf("after %s it is\n%v, not\n%v", set, got, want)
	}
	fails(t, h.do("PATCH", at, remove, h.admin, mergePatch, "If-Match: "+tag), 412, schemas.CodePreconditionFailed)
	h.ok(200, "PATCH "+at, remove, "If-Match: "+newer) // application/json
	if read, _ := h.ok(200, "GET "+at, ""); !reflect.DeepEqual(comparable(read), comparable(before)) {
		t.Errorf("after %s it is\n%v, not\n%v", remove, read, before)
	}
	if n.Plural == "flows" {
		if versions, _ := h.ok(200, "GET "+at+"/versions", ""); len(versions.list("versions")) != 3 {
			t.Errorf("two patches made %v", versions)
		}
	}
	refusesPatches(t, h, n, s, at)
	h.ok(204, "DELETE "+at, "")
	fails(t, h.do("PATCH", at, set, h.admin, mergePatch), 404, missingCode(n))
}

// refusesPatches checks that what is wrong with a patch is reported at its place in the
// patch, and that the resource stays as it is.
func refusesPatches(t *testing.T, h *testServer, n directory.Noun, s sample, at string) {
	_, rec := h.ok(200, "GET "+at, "")
	for body, want := range map[string][2]any{
		"{\n \"zzzzzz\": \"x\"}":              {"zzzzzz", 2},
		"{\n\n \"" + s.required + "\": 7}":    {s.required, 3},
		"{\"" + s.required + "\": null}":      {s.required, 1},
		"{\n\n\n \"id\": \"not-this-one\"\n}": {"id", 4},
		"[]":                                  {"", 1},
	} {
		code := badText(n)
		f := fails(t, h.do("PATCH", at, body, h.admin, mergePatch), 400, code)
		if !slices.ContainsFunc(f.Errors, func(p schemas.Problem) bool { return p.Path == want[0] && p.Line == want[1] }) {
			t.Errorf("%s: %+v", body, f.Errors)
		}
	}
	fails(t, h.do("PATCH", at, "{", h.admin, mergePatch), 400, badText(n))
	fails(t, h.do("PATCH", at, "name: x", h.admin, "Content-Type: application/yaml"), 400, schemas.CodeInvalidRequest)
	if _, after := h.ok(200, "GET "+at, ""); after.Body.String() != rec.Body.String() {
		t.Errorf("it was\n%s, is\n%s", rec.Body, after.Body)
	}
}

// comparable is a resource without what every change changes.
func comparable(m members) members {
	for _, name := range []string{"updatedAt", "activeVersion"} {
		delete(m, name)
	}
	return m
}

// applied is a copy of a resource with the members of a patch, one level below the top.
func applied(t *testing.T, m members, patch string) members {
	t.Helper()
	var copied, named members
	datatest.Unmarshal(t, []byte(asJSON(t, m)), &copied)
	datatest.Unmarshal(t, []byte(patch), &named)
	for name, value := range named {
		inner, isObject := value.(map[string]any)
		if !isObject {
			copied[name] = value
			continue
		}
		for key, value := range inner {
			copied[name].(map[string]any)[key] = value
		}
	}
	return copied
}

// Patches of different members at the same time are all kept.
func TestConcurrentPatchesLoseNothing(t *testing.T) {
	h := newOpenServer(t, "postgres", storetest.Postgres(t))
	id := h.create("/users", `{"type":"Person","attributes":{"username":"grace"}}`)
	var done sync.WaitGroup
	names := []string{"given_name", "family_name", "nickname", "website", "locale"}
	for _, name := range names {
		done.Go(func() {
			rec := h.do("PATCH", "/users/"+id, `{"attributes":{"`+name+`":"`+valueOf(name)+`"}}`, h.admin, mergePatch)
			if rec.Code != 200 {
				t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
			}
		})
	}
	done.Wait()
	user, _ := h.ok(200, "GET /users/"+id, "")
	for _, name := range names {
		if got := user["attributes"].(map[string]any)[name]; got != valueOf(name) {
			t.Errorf("%s is %v: %v", name, got, user)
		}
	}
}

func valueOf(attribute string) string {
	switch attribute {
	case "website":
		return "https://example.com"
	case "locale":
		return "en"
	}
	return "Patched"
}

func TestPatchKeepsSecrets(t *testing.T) {
	h := newTestServer(t)
	app, _ := h.ok(201, "POST /applications", numbered(samples()["applications"].body, "1"))
	user := h.create("/users", `{"type":"Person","attributes":{"username":"grace","password":"Tarn-ferry-slate-41"}}`)
	provider := h.create("/identity-providers", numbered(samples()["identityProviders"].body, "1"))
	h.ok(200, "PATCH /applications/"+app.text("id"), `{"description":"x","clientSecret":null}`, mergePatch)
	h.ok(200, "PATCH /users/"+user, `{"attributes":{"given_name":"Grace","password":null}}`, mergePatch)
	h.ok(200, "PATCH /identity-providers/"+provider, `{"name":"x","clientSecret":null}`, mergePatch)
	stored, err := h.db.ApplicationByClientID(t.Context(), app.text("clientId"))
	if err != nil || len(stored.OAuth().SecretHash) == 0 {
		t.Errorf("the application lost its secret: %v", err)
	}
	if password, err := h.db.Password(t.Context(), user); err != nil || password.Hash != "plain:Tarn-ferry-slate-41" {
		t.Errorf("the password is %q (%v)", password.Hash, err)
	}
	kept, err := h.db.IdentityProvider(t.Context(), "provider1")
	if err != nil || len(kept.SealedSecret) == 0 {
		t.Errorf("the provider lost its secret: %v", err)
	}
}

// That an address is verified was said of the address that a patch replaces.
func TestPatchOfAnAddressDoesNotVerifyIt(t *testing.T) {
	h := newTestServer(t)
	for patch, want := range map[string]any{
		`{"email":"new@example.com"}`:                       nil,
		`{"email":"old@example.com"}`:                       true,
		`{"given_name":"Grace"}`:                            true,
		`{"email":"new@example.com","email_verified":true}`: true,
	} {
		id := h.create("/users", `{"type":"Person","attributes":{"username":"grace","email":"old@example.com","email_verified":true}}`)
		user, _ := h.ok(200, "PATCH /users/"+id, `{"attributes":`+patch+`}`, mergePatch)
		if got := user["attributes"].(map[string]any)["email_verified"]; got != want {
			t.Errorf("after %s email_verified is %v, not %v", patch, got, want)
		}
		h.ok(204, "DELETE /users/"+id, "")
	}
}

func TestPatchIsAnnounced(t *testing.T) {
	h := newTestServer(t)
	rec := h.do("OPTIONS", "/groups/7", "", "Origin: "+spaOrigin, "Access-Control-Request-Method: PATCH")
	for name, want := range map[string]string{
		"Allow": "PATCH", "Access-Control-Allow-Methods": "PATCH", "Accept-Patch": "application/merge-patch+json",
	} {
		if got := rec.Header().Get(name); !strings.Contains(got, want) {
			t.Errorf("%s is %q, without %s", name, got, want)
		}
	}
}
