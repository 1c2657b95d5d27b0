package flows_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

func TestFileNames(t *testing.T) {
	tests := []struct {
		name            string
		flow, scenarios bool
	}{
		{"sign_in.yaml", true, false},
		{"sign_in.yml", true, false},
		{"sign_in.json", true, false},
		{"sign_in_test.yaml", false, true},
		{"sign_in_test.yml", false, true},
		{"flow.schema.json", false, false},
		{"readme.md", false, false},
		{"yaml", false, false},
	}
	for _, tt := range tests {
		if flow, scenarios := flows.IsFlow(tt.name), flows.IsScenarios(tt.name); flow != tt.flow || scenarios != tt.scenarios {
			t.Errorf("%s: a flow: %t, scenarios: %t", tt.name, flow, scenarios)
		}
	}
}

func TestScenariosOf(t *testing.T) {
	for flow, want := range map[string]string{"a/b.yaml": "a/b_test.yaml", "b.yml": "b_test.yml", "b.json": "b_test.yaml"} {
		if got := flows.ScenariosOf(flow); got != want || !flows.IsScenarios(got) {
			t.Errorf("%s: got %s, want %s", flow, got, want)
		}
	}
}

func TestFlowOf(t *testing.T) {
	tests := []struct {
		name, scenarios, folderSubflows string
		want, wantErr                   string
	}{
		{"YAML", "a_test.yaml", "a.yaml b.yaml", "a.yaml", ""},
		{"another ending", "a_test.yml", "a.yaml", "a.yaml", ""},
		{"the short ending", "a_test.yaml", "a.yml", "a.yml", ""},
		{"JSON", "a_test.yaml", "a.json", "a.json", ""},
		{"none", "a_test.yaml", "b.yaml", "", "expected one of a.yaml, a.yml, a.json, or a member `flow`"},
		{"two", "a_test.yaml", "a.yaml a.json", "", "several flows next to it have its name, a.yaml and a.json"},
		{"a name that says nothing", "a.yaml", "a.yaml", "", "expected *_test.yaml, *_test.yml, or a member `flow`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name := range strings.FieldsSeq(tt.folderSubflows) {
				datatest.WriteFile(t, filepath.Join(dir, name), "")
			}
			got, err := flows.FlowOf(flows.Disk{}, filepath.Join(dir, tt.scenarios))
			if got != tt.want || (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	err := flows.Faults("a.yaml", []schemas.Problem{{Path: "handle", Message: "is missing", Line: 1, Column: 2}, {Path: "name", Message: "is taken"}})
	if want := "a.yaml:1:2: handle: is missing\na.yaml: name: is taken"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
