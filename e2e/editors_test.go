package e2e_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// editorFolder is the folder of the extension for Visual Studio Code.
const editorFolder = "../editors/vscode"

// The extension for Visual Studio Code compiles, and its protocol library can use the language server. The
// editor itself is not part of the test.
func TestEditorExtension(t *testing.T) {
	t.Parallel()
	modules(t, editorFolder, "vscode-languageclient")
	program := binary(t)
	run := func(name string, args ...string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = editorFolder
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return out
	}
	run("node", "node_modules/typescript/bin/tsc", "--noEmit")
	built := t.TempDir()
	run("node_modules/esbuild/bin/esbuild", "src/extension.ts", "--bundle", "--platform=node", "--format=cjs", "--target=node20", "--external:vscode", "--outfile="+filepath.Join(built, "extension.js"))
	run("node_modules/esbuild/bin/esbuild", "src/graph.ts", "--bundle", "--format=iife", "--target=es2022", "--outfile="+filepath.Join(built, "graph.js"))
	var got struct {
		Name, Encoding, Hover, Lens string
		Before, After, Kinds        []string
		Renames, Formatted, Code    int
		Proven, Drawn               bool
	}
	out := run("node", "test/server.mjs", program, t.TempDir())
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got.Name != "postern" || got.Encoding != "utf-16" || !slices.Equal(got.Before, []string{"target"}) || len(got.After) != 0 ||
		!strings.Contains(got.Hover, "passkey-authenticate") || !slices.Contains(got.Kinds, "prompt") || got.Renames != 2 ||
		got.Lens != "posternFlows.showGraph" || !got.Proven || !got.Drawn || got.Formatted != 0 || got.Code != 0 {
		t.Errorf("the client did %+v", got)
	}
}
