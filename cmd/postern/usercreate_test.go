package main

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// `user create --invite` creates no user if the application is unknown or has no invitation flow.
func TestUserCreateChecksTheInvitationFirst(t *testing.T) {
	w := newTestApp(t)
	token := w.admin()
	w.application(token, "Closed", "name", "Closed")
	server := httptest.NewServer(w.http)
	defer server.Close()
	environ := []string{"ADMIN_SERVER_URL=" + server.URL, "ADMIN_TOKEN=" + token}
	for app, want := range map[string]string{"Unknown": "there is no application", "Closed": "no invitation flow"} {
		code, output := runProgram(t, environ, "user", "create", "ada", "--email", "ada@example.org", "--invite", app)
		if code == exitFine || !strings.Contains(output, want) {
			t.Errorf("--invite %s: exit code %d\n%s\nwant %q", app, code, output, want)
		}
	}
	mustRun(t, environ, "user", "create", "ada")
}
