package flowtest_test

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/internal/datatest"
)

// The example in the package documentation passes with the built-in flow that it names.
func TestDocumentedExample(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var example strings.Builder
	for line := range strings.Lines(file.Doc.Text()) {
		if code, ok := strings.CutPrefix(line, "\t"); ok {
			example.WriteString(code)
		}
	}
	flow := datatest.ReadFile(t, filepath.Join("..", "passkey_sign_in.yaml"))
	path := write(t, string(flow), example.String())
	f, err := flowtest.Load(path)
	if err != nil {
		t.Fatalf("%v in\n%s", err, example.String())
	}
	report, err := f.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Failure != nil {
			t.Errorf("%s: %s", r.Name, r.Failure.Text(path))
		}
	}
}

// A JSON flow is parsed as JSON, which is stricter than YAML.
func TestFlowInJSON(t *testing.T) {
	const flow = `{"handle": "sign-in", "name": "Sign in", "flowType": "AUTHENTICATION", "nodes": [
  {"id": "key", "use": "passkey-authenticate", "next": "done"},
  {"id": "done", "use": "authorization-code"}]}`
	tests := []struct{ name, flow, want string }{
		{"JSON", flow, ""},
		{"YAML", signIn, "flow.json:1:1: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, "", "scenarios: [{name: s, steps: [{expect: {step: key}}]}]\n")
			adjacent := filepath.Join(filepath.Dir(path), "flow")
			if err := os.Remove(adjacent + ".yaml"); err != nil {
				t.Fatal(err)
			}
			datatest.WriteFile(t, adjacent+".json", tt.flow)
			f, err := flowtest.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Run(context.Background())
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}
