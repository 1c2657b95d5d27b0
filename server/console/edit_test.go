package console

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// Changes of the graph and of configurations keep the text: 10,000 random changes give the same
// definitions as the same changes of the parsed flow, keep comments and other nodes, and can be undone.
// The server reads the same definitions from the texts.
func TestEditsKeepTheText(t *testing.T) {
	samples := filepath.Join(t.TempDir(), "samples")
	t.Setenv("SAMPLES", samples)
	runWithFlows(t, "edit.mjs", "test/styles.yaml", "../../../flows/*.yaml")
	compareSamples(t, samples)
}

// No edge of a drawn flow crosses a node, and no label covers another label or a node.
func TestLayout(t *testing.T) {
	runWithFlows(t, "layout.mjs", "../../../flows/*.yaml", "../../../flows/recipes/*.yaml")
}

// runWithFlows runs a program of web/test with the flow files that match the patterns.
func runWithFlows(t *testing.T, program string, patterns ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs in another process, which the race detector does not watch")
	}
	if _, err := os.Stat("web/node_modules/typescript"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("SKIP: run `make npm` first")
	}
	t.Chdir("web")
	args := []string{filepath.Join("test", program)}
	names := datatest.Glob(t, patterns...)
	args = append(args, slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.yaml") })...)
	if out, err := exec.Command("node", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// compareSamples compares the definitions that the browser and the server read from texts.
func compareSamples(t *testing.T, name string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	count := 0
	for d := json.NewDecoder(file); d.More(); count++ {
		var sample struct {
			Text       string
			Definition any
		}
		if err := d.Decode(&sample); err != nil {
			t.Fatal(err)
		}
		document, problems := schemas.ParseYAML([]byte(sample.Text))
		if len(problems) > 0 {
			t.Fatalf("%v\n%s", problems, sample.Text)
		}
		var got any
		if err := json.Unmarshal(document.JSON(), &got); err != nil || !reflect.DeepEqual(got, sample.Definition) {
			t.Fatalf("%v\n%s\ngot  %v\nwant %v", err, sample.Text, got, sample.Definition)
		}
	}
	if count < 500 {
		t.Errorf("only %d samples", count)
	}
}
