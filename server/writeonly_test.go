package server_test

import "testing"

// The permission to write does not include the permission to read: without the latter, a reply does not
// contain the resource.
func TestWritersWithoutReadPermissionReadNothing(t *testing.T) {
	h := newTestServer(t)
	vera, writer := h.user("vera"), h.user("writer")
	group := h.create("/groups", `{"name":"Friends","members":[{"type":"user","id":"`+vera+`"}]}`)
	role := h.create("/roles", `{"name":"Readers","permissions":[],"assignments":[{"type":"user","id":"`+vera+`"}]}`)
	app := h.create("/applications", `{"name":"Shop"}`)
	h.enrol(vera)
	keys, _ := h.ok(200, "GET /users/"+vera+"/passkeys", "")
	key := "/users/" + vera + "/passkeys/" + keys.list("passkeys")[0].text("id")
	unwritten := func(method, path, body, noun string) {
		t.Helper()
		if rec := h.do(method, path, body, h.bearer(writer, "system:"+noun+":write")); rec.Code != 204 || rec.Body.Len() > 0 || rec.Header().Get("ETag") != "" {
			t.Errorf("%s %s: %d %s", method, path, rec.Code, rec.Body)
		}
	}
	for noun, id := range map[string]string{"users": vera, "groups": group, "roles": role, "applications": app} {
		path := "/" + noun + "/" + id
		unwritten("PATCH", path, "{}", noun)
		if rec := h.do("PATCH", path, "{}", h.bearer(writer, "system:"+noun+":write", "system:"+noun+":read")); rec.Code != 200 {
			t.Errorf("PATCH %s: %d %s", path, rec.Code, rec.Body)
		}
	}
	unwritten("PATCH", key, `{"name":"Lost"}`, "users")
	unwritten("PUT", "/groups/"+group, `{"name":"Family","members":[{"type":"user","id":"`+vera+`"}]}`, "groups")
	if got, _ := h.ok(200, "GET /groups/"+group, ""); got.text("name") != "Family" {
		t.Errorf("the group is %v", got)
	}
	for noun, list := range map[string]string{"groups": "/groups/" + group + "/members", "roles": "/roles/" + role + "/assignments"} {
		for _, method := range []string{"PUT", "DELETE"} {
			unwritten(method, list+"/user/"+writer, "", noun)
			got, _ := h.ok(200, "GET "+list, "")
			if want := map[string]int{"PUT": 2, "DELETE": 1}[method]; got.number("totalResults") != want {
				t.Errorf("after %s %s: %v", method, list, got)
			}
		}
	}
}
