package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// Users that one server exports, another one imports: with their IDs, passwords and groups.
func TestUserExport(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := newImportTest(t, environ...)
		token := w.admin()
		ann := w.made(token, "/users", `{"type":"Person","attributes":{"username":"ann","email":"ann@example.org","email_verified":true,"password":"quiet harbour lantern"}}`)
		w.made(token, "/users", `{"type":"Person","status":"disabled","attributes":{"username":"ben"}}`)
		w.made(token, "/groups", fmt.Sprintf(`{"name":"Staff","members":[{"type":"user","id":%q}]}`, ann))
		for _, format := range []string{"csv", "jsonl"} {
			dir := t.TempDir()
			plain, file := filepath.Join(dir, "plain"), filepath.Join(dir, "users."+format)
			expectTexts(t, mustRun(t, w.environ, "user", "export", "--format", format, plain), "exported 3 users")
			if text := string(datatest.ReadFile(t, plain)); strings.Contains(text, "$argon2id$") || !strings.Contains(text, "ann@example.org") {
				t.Errorf("%s without hashes:\n%s", format, text)
			}
			if code, output := runProgram(t, w.environ, "user", "export", "--format", format, plain); code == exitFine || !strings.Contains(output, "exists") {
				t.Errorf("over a file: %d %s", code, output)
			}
			mustRun(t, w.environ, "user", "export", "--format", format, "--hashes", file)

			other := newImportTest(t)
			out := other.importExport(t, format, file)
			expectTexts(t, out, "imported 2 users (1 with password)", "another one has the same name") // both have administrators
			expectTexts(t, other.importExport(t, format, file), "imported 0 users; ")
			if id := other.userNamed("ann"); id != ann {
				t.Errorf("%s: the ID of ann is %s", format, id)
			}
			if s := other.signInWith("ann", "quiet harbour lantern"); !acceptsPassword(s) {
				t.Errorf("%s: %+v", format, s)
			}
			if s := other.signInWith("ann", "another"); acceptsPassword(s) {
				t.Errorf("%s: a wrong password", format)
			}
		}
		if n := len(w.eventsOf("store.exported")); n != 6 {
			t.Errorf("%d events", n)
		}
	})
}
