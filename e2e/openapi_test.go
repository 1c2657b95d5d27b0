package e2e_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

var updateTypes = flag.Bool("update-types", false, "write the types of the API that the console uses")

// A client in TypeScript that is generated from /openapi.json compiles without a complaint, signs
// in, and manages an application.
func TestGeneratedClient(t *testing.T) {
	t.Parallel()
	modulesFolder := modules(t, "openapi", "openapi-typescript")
	p := serve(t)
	folder := t.TempDir()
	for _, name := range []string{"client.ts", "process.d.ts", "tsconfig.json", "package.json"} {
		text, err := os.ReadFile(filepath.Join("openapi", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modulesFolder, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	run := func(script string, args ...string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "node", append([]string{script}, args...)...)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", script, args, err, out)
		}
		return out
	}
	run("node_modules/openapi-typescript/bin/cli.js", p.base+"/openapi.json", "-o", "api.d.ts")
	const types = "../server/console/web/src/description.d.ts"
	generated := datatest.ReadFile(t, filepath.Join(folder, "api.d.ts"))
	if *updateTypes {
		datatest.WriteFile(t, types, generated)
	}
	if current := datatest.ReadFile(t, types); string(current) != string(generated) {
		t.Errorf("the console's %s is not generated from this API: run `go test ./e2e -run GeneratedClient -update-types`, then `make console`", types)
	}
	run("node_modules/typescript/bin/tsc")
	var got struct {
		Username, Description, Missing string
		Listed                         []string
		HasSecret                      bool
		Removed                        int
	}
	out := run("client.js", p.base, consoleID, "admin", adminPassword)
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got.Username != "admin" || got.Description != "changed" || !slices.Equal(got.Listed, []string{"Generated"}) || !got.HasSecret ||
		got.Removed != 204 || got.Missing != "application_not_found" {
		t.Errorf("the client did %+v", got)
	}
}
