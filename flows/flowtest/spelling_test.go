package flowtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/internal/datatest"
)

// Misspelled error codes and attributes are found before a scenario runs.
func TestSpelling(t *testing.T) {
	const flow = `handle: in
name: In
flowType: AUTHENTICATION
nodes:
  - {id: key, use: passkey-authenticate, next: more}
  - {id: more, use: attributes, with: {attributes: [names]}, next: done}
  - {id: done, use: authorization-code}
`
	const member = "name: Member\nschema: {type: object, additionalProperties: false, properties: {username: {type: string}, department: {type: string}}}\n"
	tests := []struct {
		name, user, expect, types string
		want                      string
		warning                   bool
	}{
		{"right", "username: ada, team: a, names: b", "error: passkey_verification_failed", "", "", false},
		{"an error", "username: ada", "error: passkey_verificaton_failed", "",
			`no node of the flow reports the error "passkey_verificaton_failed"; did you mean "passkey_verification_failed"?`, false},
		{"of another kind", "username: ada", "error: federation_failed", "", `no node of the flow reports the error "federation_failed"`, false},
		{"of every flow", "username: ada", "refused: stale_step", "", "", false},
		{"a refused step", "username: ada", "refused: stale_stp", "", `did you mean "stale_step"?`, false},
		{"a refusal", "username: ada", "refusal: acces_denied", "", `no authorization request is rejected with "acces_denied"; did you mean "access_denied"?`, false},
		{"an attribute", "usernme: ada", "status: INCOMPLETE", "", `users.ada.attributes.usernme: "usernme" is not a standard attribute; did you mean "username"?`, true},
		{"an attribute of a type", "departmnt: ada", "status: INCOMPLETE", member, `the user type "Member" does not have an attribute "departmnt"; did you mean "department"?`, false},
		{"a right attribute of a type", "department: ada", "status: INCOMPLETE", member, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			scenarios := "users: {ada: {attributes: {" + tt.user + "}}}\nscenarios: [{name: s, steps: [{expect: {" + tt.expect + "}}]}]\n"
			path := write(t, flow, scenarios)
			if tt.types != "" {
				dir := filepath.Join(filepath.Dir(path), "user-types")
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				datatest.WriteFile(t, filepath.Join(dir, "member.yaml"), tt.types)
			}
			n, problems := flowtest.Check(path, []byte(scenarios))
			if got := fmt.Sprint(problems); (len(problems) > 0) != (tt.want != "") || !strings.Contains(got, tt.want) {
				t.Errorf("found %s, expected %q", got, tt.want)
			}
			if accepted := n == 1; accepted != (tt.want == "" || tt.warning) {
				t.Errorf("%d scenarios, %v", n, problems)
			}
		})
	}
}
