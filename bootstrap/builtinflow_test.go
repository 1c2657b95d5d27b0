package bootstrap

import (
	"testing"

	"github.com/postern-id/postern/flows"
)

// Refresh looks at the flows that have an ID, and parses only those that it updates.
func TestEachBuiltinFlowHasAnID(t *testing.T) {
	builtin, err := flows.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if len(builtin) != len(flowIDs()) {
		t.Errorf("%d built-in flows have %d IDs", len(builtin), len(flowIDs()))
	}
	for handle, id := range flowIDs() {
		if f, err := builtinFlow(handle, id); err != nil || f.Handle != handle || f.ID != id {
			t.Errorf("%s: got the flow %q with the ID %q, and the error %v", handle, f.Handle, f.ID, err)
		}
	}
}
