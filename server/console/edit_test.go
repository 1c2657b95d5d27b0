package console

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Changes of the graph and of configurations keep the text: 10,000 random changes give the same
// definitions as the same changes of the parsed flow, keep comments and other nodes, and can be undone.
// The server reads the same definitions from the texts.
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
	samples := filepath.Join(t.TempDir(), "samples")
	cmd.Env = append(os.Environ(), "SAMPLES="+samples)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compareSamples(t, samples)
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
