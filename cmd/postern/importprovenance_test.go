package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

const (
	administratorRoleID = "01900000-0000-7000-8000-000000000050"
	mallory             = "0a7d1b5e-2222-4a11-8a11-0000000000aa"
)

// permissionsOf returns the permissions of a user.
func (w importTest) permissionsOf(t *testing.T, userID string) []string {
	t.Helper()
	has, err := w.store.Permissions(t.Context(), userID)
	if err != nil {
		t.Fatal(err)
	}
	return has
}

// writeExport writes the files of an export.
func writeExport(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		datatest.WriteFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

// An export names the IDs of built-in resources, or those of resources that an administrator made. Its
// users get none of their permissions.
func TestImportedMembersOfForeignResources(t *testing.T) {
	const helpdesk, staff = "0b7d1b5e-2222-4a11-8a11-000000000001", "0b7d1b5e-2222-4a11-8a11-000000000002"
	exports := map[string]func(role, group string) map[string]string{
		"keycloak": func(role, group string) map[string]string {
			return map[string]string{"r-realm.json": fmt.Sprintf(`{"realm":"r","roles":{"realm":[{"id":%q,"name":"editor"}]},
				"groups":[{"id":"0b7d1b5e-2222-4a11-8a11-0000000000f0","name":"all","subGroups":[{"id":%q,"name":"writers","realmRoles":["editor"]}]}],
				"users":[{"id":%q,"username":"mallory","realmRoles":["editor"],"groups":["/all/writers","/all"]}]}`, role, group, mallory)}
		},
		"auth0": func(role, _ string) map[string]string {
			return map[string]string{"roles.json": fmt.Sprintf(`[{"id":%q,"name":"editor"}]`, role),
				"users.ndjson": fmt.Sprintf(`{"user_id":%q,"username":"mallory","name":"M","roles":["editor"]}`, mallory)}
		},
		"thunderid": func(role, group string) map[string]string {
			return map[string]string{"all.yaml": fmt.Sprintf("resource_type: role\nid: %s\nname: editor\nassignments: [{id: %s, type: user}]\n---\nresource_type: group\nid: %s\nname: writers\nmembers: [{id: %s, type: user}]\n---\nresource_type: user\nid: %s\nattributes: {username: mallory}\n",
				role, mallory, group, mallory, mallory)}
		},
	}
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := newImportTest(t, environ...)
		token := w.admin()
		w.made(token, "/groups", fmt.Sprintf(`{"id":%q,"name":"Staff"}`, staff))
		w.made(token, "/roles", fmt.Sprintf(`{"id":%q,"name":"Help desk","permissions":["system:users:write"],"assignments":[{"type":"group","id":%q}]}`, helpdesk, staff))
		for product, files := range exports {
			for name, ids := range map[string][2]string{
				"built-in":              {administratorRoleID, bootstrap.AdministratorsID},
				"built-in in capitals":  {strings.ToUpper(administratorRoleID), strings.ToUpper(bootstrap.AdministratorsID)},
				"of an administrator":   {helpdesk, staff},
				"of another kind":       {staff, helpdesk},
				"the other way round":   {bootstrap.AdministratorsID, administratorRoleID},
				"of an application":     {bootstrap.ConsoleID, bootstrap.ConsoleID},
				"of the type of people": {schemas.PersonID, bootstrap.DefaultUnitID},
			} {
				for _, flags := range [][]string{nil, {"--administrators"}} {
					out := w.importExport(t, append([]string{product, writeExport(t, files(ids[0], ids[1])), "--name", "r"}, flags...)...)
					id := w.userNamed("mallory")
					if has := w.permissionsOf(t, id); len(has) > 0 {
						t.Fatalf("%s, %s %q: the imported user has %q\n%s", product, name, flags, has, out)
					}
					switch {
					case strings.HasPrefix(name, "built-in"):
						expectTexts(t, out, "its ID is one that every Postern has, and is replaced")
					case name == "of an administrator":
						expectTexts(t, out, "it is not recorded that this source was imported as it")
					}
					w.delete("/users/"+id, token)
				}
			}
		}
	})
}

// delete deletes a resource.
func (w importTest) delete(path, token string) {
	w.t.Helper()
	if r := w.call(http.MethodDelete, path, token, ""); r.Code != http.StatusNoContent {
		w.t.Fatalf("DELETE %s: %d %s", path, r.Code, r.Body)
	}
}

// A role that was imported before gets members again; those that would become administrators need a
// flag. The dry run lists them with the permissions.
func TestImportedMembersOfImportedRoles(t *testing.T) {
	const role = "0b7d1b5e-3333-4a11-8a11-000000000001"
	realm := func(users string) string {
		return writeExport(t, map[string]string{"r-realm.json": fmt.Sprintf(`{"realm":"r","roles":{"realm":[{"id":%q,"name":"support"}]},"users":[%s]}`, role, users)})
	}
	w := newImportTest(t)
	first := realm(`{"username":"ann","realmRoles":["support"]}`)
	w.importExport(t, "keycloak", first)
	token := w.admin()
	w.put("/roles/"+role, fmt.Sprintf(`{"name":"support","permissions":["system:users:read"],"assignments":[{"type":"user","id":%q}]}`, w.userNamed("ann")), token)

	second := realm(`{"username":"ann","realmRoles":["support"]},{"username":"ben","realmRoles":["support"]},{"username":"cleo","realmRoles":["support"]}`)
	out := w.importExport(t, "keycloak", second, "--dry-run")
	expectTexts(t, out, "give administrative permissions (system:users:read)", "--administrators")
	out = w.importExport(t, "keycloak", second, "--dry-run", "--administrators")
	expectTexts(t, out, `new members of the existing role "support": 2 users, who get the permissions system:users:read`)
	w.importExport(t, "keycloak", second)
	ben, err := w.store.UserByAttribute(t.Context(), "", "username", "ben")
	if err != nil || len(w.permissionsOf(t, ben.ID)) > 0 {
		t.Errorf("without the flag: %v, %q", err, w.permissionsOf(t, ben.ID))
	}
	third := realm(`{"username":"dora","realmRoles":["support"]}`)
	expectTexts(t, w.importExport(t, "keycloak", third, "--administrators"), `new members of the existing role "support": 1 user`)
	dora, err := w.store.UserByAttribute(t.Context(), "", "username", "dora")
	if err != nil || !slices.Equal(w.permissionsOf(t, dora.ID), []string{"system:users:read"}) {
		t.Errorf("with the flag: %v, %q", err, w.permissionsOf(t, dora.ID))
	}
	// The same realm in another name is another source.
	other := writeExport(t, map[string]string{"s-realm.json": fmt.Sprintf(`{"realm":"s","roles":{"realm":[{"id":%q,"name":"support"}]},"users":[{"username":"eve","realmRoles":["support"]}]}`, role)})
	expectTexts(t, w.importExport(t, "keycloak", other, "--administrators"), "it is not recorded that this source was imported as it")
}

// A role that an earlier release imported has no recorded origin.
func TestAdoptImportedResources(t *testing.T) {
	w := newImportTest(t)
	dir := writeExport(t, map[string]string{"r-realm.json": `{"realm":"r","roles":{"realm":[{"id":"0b7d1b5e-4444-4a11-8a11-000000000001","name":"clerk"}]},"users":[{"username":"ann","realmRoles":["clerk"]}]}`})
	w.made(w.admin(), "/roles", `{"id":"0b7d1b5e-4444-4a11-8a11-000000000001","name":"clerk"}`)
	expectTexts(t, w.importExport(t, "keycloak", dir, "--dry-run"), "pass --adopt")
	expectTexts(t, w.importExport(t, "keycloak", dir, "--adopt"), `new members of the existing role "clerk": 1 user, who get no permissions`)
	expectTexts(t, w.importExport(t, "keycloak", dir), "already stored: 1 other resource")
}

// The ID of a deleted user is never assigned again, in all ways to create users.
func TestIDsOfDeletedUsers(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := newImportTest(t, environ...)
		token := w.admin()
		const id = "0c7d1b5e-5555-4a11-8a11-000000000001"
		w.made(token, "/users", fmt.Sprintf(`{"id":%q,"type":"Person","attributes":{"username":"ann"}}`, id))
		w.delete("/users/"+id, token)

		for path, body := range map[string]string{
			"/users":        `{"id":%q,"type":"Person","attributes":{"username":"eve"}}`,
			"/groups":       `{"id":%q,"name":"Eve"}`,
			"/applications": `{"name":"Eve","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":%q,"grantTypes":["client_credentials"]}}]}`,
		} {
			if r := w.call(http.MethodPost, path, token, fmt.Sprintf(body, id)); r.Code != http.StatusConflict && r.Code != http.StatusBadRequest {
				t.Errorf("%s with the id of a deleted user: %d %s", path, r.Code, r.Body)
			}
		}
		seed := filepath.Join(t.TempDir(), "tree")
		datatest.WriteFile(t, filepath.Join(seed, "users", "ann.yaml"), fmt.Sprintf("id: %s\ntype: Person\nattributes: {username: ann}\n", id))
		if code, out := runProgram(t, w.environ, "apply", seed); code == exitFine || !strings.Contains(out, "belonged to a user who was deleted") {
			t.Errorf("apply: %d %s", code, out)
		}

		// The username may return, and a repeated import gives the user a new ID, once.
		dir := writeExport(t, map[string]string{"r-realm.json": fmt.Sprintf(`{"realm":"r","users":[{"id":%q,"username":"ann"}]}`, id)})
		expectTexts(t, w.importExport(t, "keycloak", dir), "imported 1 user", "has a new ID (sub)")
		ann, err := w.store.UserByAttribute(t.Context(), "", "username", "ann")
		if err != nil || ann.ID == id {
			t.Fatalf("the imported user has the ID %+v, %v", ann, err)
		}
		expectTexts(t, w.importExport(t, "keycloak", dir), "imported 0 users; 1 exist already")
		w.delete("/users/"+ann.ID, token)
		w.importExport(t, "keycloak", dir)
		again, err := w.store.UserByAttribute(t.Context(), "", "username", "ann")
		if err != nil || again.ID == id || again.ID == ann.ID {
			t.Errorf("after another deletion: %+v, %v", again, err)
		}
	})
}
