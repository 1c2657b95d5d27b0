package console

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Changes of the graph keep the text: 10,000 random changes give the same definitions as the same
// changes of the parsed flow, keep comments and other nodes, and can be undone.
func TestEditsKeepTheText(t *testing.T) {
	if testing.Short() {
		t.Skip("runs in another process, which the race detector does not watch")
	}
	if _, err := os.Stat("web/node_modules/typescript"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("SKIP: run `make npm` first")
	}
	flows, err := filepath.Glob("../../flows/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"test/edit.mjs", "test/styles.yaml"}
	for _, name := range flows {
		if !strings.HasSuffix(name, "_test.yaml") {
			args = append(args, filepath.Join("..", name))
		}
	}
	cmd := exec.Command("node", args...)
	cmd.Dir = "web"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
