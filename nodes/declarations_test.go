package nodes

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// A kind without a part of its declaration does not compile.
func TestDeclarationsAreComplete(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the package several times, in one goroutine")
	}
	complete := string(datatest.ReadFile(t, "testdata/declarations/complete.go"))
	tests := []struct{ without, whole, part, expect string }{
		{"nothing", "", "", ""},
		{"the effect of an outcome", "engine.Effect{Proves: engine.Mailbox}, ", "", "not enough arguments in call to engine.On"},
		{"the effect and the constructor of an outcome", `engine.On(successOutcome, engine.Effect{Proves: engine.Mailbox}, engine.Outcome{Doc: "the user entered the code"})`,
			`{Name: successOutcome, Doc: "the user entered the code"}`, "unknown field Name in struct literal"},
		{"the unexported name of an outcome", `engine.On(successOutcome, engine.Effect{Proves: engine.Mailbox}, engine.Outcome{Doc: "the user entered the code"})`,
			`{name: successOutcome, Doc: "the user entered the code"}`, "field name in struct literal"},
		{"its error codes", "errorCodes{schemas.CodeInvalidCode}, ", "", "not enough arguments in call to configured"},
		{"its row of docs/kinds.md", `, row{"success", "an authenticated user"}`, "", "not enough arguments in call to configured"},
		{"a part of its row", `, "an authenticated user"}`, "}", "too few values in struct literal"},
	}
	for _, tt := range tests {
		t.Run("without "+tt.without, func(t *testing.T) {
			if !strings.Contains(complete, tt.whole) {
				t.Fatalf("the declaration has no %s", tt.whole)
			}
			output, err := compileWith(t, strings.Replace(complete, tt.whole, tt.part, 1))
			if tt.expect == "" && err != nil || tt.expect != "" && (err == nil || !strings.Contains(output, tt.expect)) {
				t.Errorf("compiles with %v:\n%s\nexpected %q", err, output, tt.expect)
			}
		})
	}
}

// compileWith compiles the package with one more file.
func compileWith(t *testing.T, text string) (output string, err error) {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	file, overlay := filepath.Join(dir, "sms_otp.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "sms_otp.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{file: []byte(text), overlay: replace} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	printed, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, ".").CombinedOutput()
	return string(printed), err
}
