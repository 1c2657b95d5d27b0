package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAuditListNames lists the events of a user who was deleted, by the id. Names stand for what exists.
func TestAuditListNames(t *testing.T) {
	w := newTestApp(t)
	server := httptest.NewServer(w.http)
	defer server.Close()
	token := w.admin()
	list := func(args ...string) (int, string) {
		return runProgram(t, nil, append([]string{"audit", "list", "--server", server.URL, "--token", token}, args...)...)
	}
	var user struct{ ID string }
	w.send(http.StatusCreated, "/users", token, `{"type": "Person", "attributes": {"username": "ada"}}`, &user)
	if code, said := list("--user", "ada", "--action", "user.created"); code != exitFine || !strings.Contains(said, "ada") || strings.Contains(said, user.ID) || !strings.Contains(said, "admin") {
		t.Errorf("the events of a user: %d %s, expected the names of the user and of the actor", code, said)
	}
	if rec := w.call(http.MethodDelete, "/users/"+user.ID, token, ""); rec.Code != http.StatusNoContent {
		t.Fatalf("deleting the user: %d %s", rec.Code, rec.Body)
	}
	if code, said := list("--user", user.ID); code != exitFine || !strings.Contains(said, "user.deleted") || !strings.Contains(said, user.ID) {
		t.Errorf("the events of a deleted user: %d %s", code, said)
	}
	if code, said := list("--user", user.ID, "--json"); code != exitFine || strings.Contains(said, `"names"`) {
		t.Errorf("as JSON: %d %s, expected the members of the API", code, said)
	}
}
