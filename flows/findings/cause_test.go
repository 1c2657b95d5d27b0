package findings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// One wrong target has one finding at its line. The others are below it.
func TestFindingsPointAtTheWrongTarget(t *testing.T) {
	tests := []struct{ name, file, right, wrong string }{
		{"a session that goes past the second factor", "sign_in.yaml", "next: {active: enough, none: key}", "next: {active: done, none: key}"},
		{"a failed passkey that lets in", "sign_in.yaml", "next: {success: consent, failure: who, password: who}", "next: {success: consent, failure: consent, password: who}"},
		{"a choice that lets in", "sign_in.yaml", "next: {success: consent, failure: who, password: who}", "next: {success: consent, failure: who, password: done}"},
		{"a prompt that goes past the password", "sign_in.yaml", "next: {continue: find, usernameless: key}", "next: {continue: consent, usernameless: key}"},
		{"an unknown name that needs no password", "sign_in.yaml", "next: {found: check, missing: check}", "next: {found: check, missing: consent}"},
		{"a wrong password that is enough", "sign_in.yaml", "next: {success: second, failure: who}", "next: {success: second, failure: second}"},
		{"a password back to its prompt", "sign_in.yaml", "next: {success: second, failure: who}", "next: {success: who, failure: who}"},
		{"a lost device that lets in", "sign_in.yaml", "next: {success: consent, none: consent, lost: recovery}", "next: {success: consent, none: consent, lost: mail}"},
		{"a consent without an end", "sign_in.yaml", "next: {granted: done, denied: end, other: key}", "next: {granted: consent, denied: consent, other: key}"},
		{"a mailed code that is skipped", "recipes/company_sign_in.yaml", "next: {created: verify, taken: who}", "next: {created: link, taken: who}"},
		{"a provider that signs in unknown users", "recipes/company_sign_in.yaml", "next: {success: consent, unknown: create, failure: who}", "next: {success: consent, unknown: consent, failure: who}"},
		{"a taken name that takes over", "recipes/company_sign_in.yaml", "next: {created: verify, taken: who}", "next: {created: verify, taken: link}"},
		{"a look-up that lets in", "recipes/company_sign_in.yaml", "conceal: true}, next: key}", "conceal: true}, next: consent}"},
		{"a wrong passkey that lets in", "recipes/company_sign_in.yaml", "with: {mode: identified}, next: {success: consent, failure: who}", "with: {mode: identified}, next: {success: consent, failure: done}"},
		{"a passkey past the terms", "recipes/terms_of_service.yaml", "next: {success: terms}", "next: {success: done}"},
		{"terms without an end", "recipes/terms_of_service.yaml", "next: {done: consent}", "next: {done: key}"},
		{"a sign-up past the passkey", "passkey_sign_up.yaml", "next: {created: verify, taken: who}", "next: {created: verify, taken: key}"},
		{"a mail that is not checked", "forgotten_password.yaml", "next: {success: second, failure: who", "next: {success: second, failure: secret"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			right := string(datatest.ReadFile(t, "../"+tt.file))
			before, _, found := strings.Cut(right, tt.right)
			if !found {
				t.Fatalf("%s does not contain %q", tt.file, tt.right)
			}
			wrong := strings.Replace(right, tt.right, tt.wrong, 1)
			f := checked(t, Source{Name: "../" + tt.file, Text: []byte(wrong)})
			var out strings.Builder
			if err := (Text{}).Write(&out, f); err != nil {
				t.Fatal(err)
			}
			at := fmt.Sprintf("%s:%d:", "../"+tt.file, 1+strings.Count(before, "\n"))
			if !strings.HasPrefix(out.String(), at) || strings.Count(out.String(), ": error: ") != 1 || !strings.Contains(out.String(), " instead of ") && !strings.Contains(out.String(), " to another node than ") {
				t.Errorf("expected one finding at %s\n%s", at, &out)
			}
		})
	}
}
