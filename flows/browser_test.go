package flows_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/studio"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

var browserFlows = flag.Int("browser-flows", 2000, "the number of generated flows that the WebAssembly checker checks")

// nodeScript runs the checker in Node. Each line of its input is the input of a call of check, and
// each line of its output the reply.
const nodeScript = `
const { readFileSync } = require("node:fs");
const [, , wasmExec, program] = process.argv;
(0, eval)(readFileSync(wasmExec, "utf8"));
const go = new Go();
WebAssembly.instantiate(readFileSync(program), go.importObject).then(async ({ instance }) => {
  go.run(instance);
  for await (const line of require("node:readline").createInterface({ input: process.stdin })) {
    process.stdout.write(callStudio("check", line) + "\n");
  }
  process.exit(0);
});`

// The checker of the browser returns the findings that the server returns, for valid and invalid
// flows of any shape, in YAML and JSON.
func TestBrowserAgreesWithServer(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and one flow after another: run it without -short")
	}
	check := startBrowserChecker(t)
	n, differ := 0, 0
	random := rand.New(rand.NewPCG(1, 2))
	var valid, withFindings int
	for source := range generated(t, random) {
		want := onServer(t, source, schemas.SubflowsOf{})
		if got := check(source); got != want {
			t.Errorf("the browser returns\n%s\nthe server returns\n%s\nfor\n%s", got, want, source.Text)
			if differ++; differ > 5 {
				break
			}
		}
		if strings.HasPrefix(want, `{"result":{"valid":true`) {
			valid++
		}
		if !strings.Contains(want, `"findings":[]`) {
			withFindings++
		}
		if n++; n >= *browserFlows {
			break
		}
	}
	t.Logf("%d flows, %d valid, %d with findings", n, valid, withFindings)
	if valid < n/100 || withFindings < n/10 {
		t.Errorf("of %d flows %d are valid, and %d have findings", n, valid, withFindings)
	}
}

// onServer returns what POST /flows/check answers, as a reply of the studio.
func onServer(t *testing.T, source studio.Source, subflows schemas.Subflows) string {
	t.Helper()
	var flow *schemas.Flow
	problems := schemas.CheckFlowText([]byte(source.Text), !source.JSON, func(text []byte, yaml bool) (found []schemas.Problem) {
		flow, _, found = engine.CheckUsing(text, yaml, serverKinds, subflows)
		return found
	})
	return string(datatest.Marshal(t, map[string]studio.CheckResult{"result": {Valid: flow != nil, Findings: append([]schemas.Problem{}, problems...)}}))
}

var serverKinds = nodes.Kinds(nodes.Deps{})

// startBrowserChecker builds the checker and runs it in Node, until the end of the test.
func startBrowserChecker(t *testing.T) func(studio.Source) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("Node is not there")
		}
		t.Skip("SKIP: Node is not there")
	}
	program := filepath.Join(t.TempDir(), "checker.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, "../server/console/wasm")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "run.cjs")
	datatest.WriteFile(t, script, nodeScript)
	node := exec.CommandContext(t.Context(), "node", script, filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec.js"), program)
	node.Stderr = os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = node.Wait() // it ends with its input
	})
	replies := bufio.NewReader(out)
	return func(source studio.Source) string { return ask(t, in, replies, source) }
}

func ask(t *testing.T, in io.Writer, replies *bufio.Reader, source studio.Source) string {
	t.Helper()
	line := datatest.Marshal(t, source)
	if _, err := fmt.Fprintf(in, "%s\n", line); err != nil {
		t.Fatal(err)
	}
	reply, err := replies.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(reply, "\n")
}

// generated yields flows without end: mutants of good flows, random graphs, and texts of both with
// random slips of an author.
func generated(t *testing.T, random *rand.Rand) func(yield func(studio.Source) bool) {
	texts := goodTexts(t)
	var changed []mutant
	for _, f := range goodFlows(t) {
		changed = append(changed, mutants(f)...)
	}
	return func(yield func(studio.Source) bool) {
		for i := 0; ; i++ {
			var source studio.Source
			switch i % 4 {
			case 0:
				source = jsonOf(t, changed[random.IntN(len(changed))].flow)
			case 1:
				source = jsonOf(t, randomFlow(random))
			case 2:
				source = studio.Source{Text: slip(texts[random.IntN(len(texts))], random)}
			default:
				source = jsonOf(t, randomFlow(random))
				source.Text = slip(source.Text, random)
				source.JSON = random.IntN(2) == 0 // JSON is YAML too
			}
			if !yield(source) {
				return
			}
		}
	}
}

func goodTexts(t *testing.T) (texts []string) {
	for _, path := range datatest.Glob(t, "*.yaml", "testdata/good/*.yaml") {
		if !flows.IsFlow(path) {
			continue
		}
		text := datatest.ReadFile(t, path)
		texts = append(texts, string(text))
	}
	return texts
}

func jsonOf(t *testing.T, f *schemas.Flow) studio.Source {
	t.Helper()
	text := datatest.Marshal(t, f)
	return studio.Source{Text: string(text), JSON: true}
}

func randomFlow(r *rand.Rand) *schemas.Flow {
	data := make([]byte, 20+r.IntN(40))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return random(data)
}

// slip changes a text at a random place, as an author may: letters are lost, repeated or swapped, and
// lines are lost, repeated or moved.
func slip(text string, r *rand.Rand) string {
	for range 1 + r.IntN(2) {
		at := r.IntN(len(text) - 2)
		lines := strings.SplitAfter(text, "\n")
		k := r.IntN(len(lines))
		switch r.IntN(6) {
		case 0:
			text = text[:at] + text[at+1:]
		case 1:
			text = text[:at] + text[at:at+1] + text[at:]
		case 2:
			text = text[:at] + text[at+1:at+2] + text[at:at+1] + text[at+2:]
		case 3:
			text = strings.Join(slices.Delete(lines, k, k+1), "")
		case 4:
			text = strings.Join(slices.Insert(lines, k, lines[r.IntN(len(lines))]), "")
		default:
			text = text[:at] + string(rune(32+r.IntN(95))) + text[at+1:]
		}
		if len(text) < 10 {
			return text + strings.Repeat(" ", 10)
		}
	}
	return strings.ToValidUTF8(text, "?")
}
