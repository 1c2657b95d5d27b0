package main

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
)

// What docs/services.md configures is a configuration, and the nodes that it shows are
// those of a flow that may run.
func TestDocumentedServices(t *testing.T) {
	page := datatest.ReadFile(t, "../../docs/services.md")
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 3 {
		t.Fatalf("the page has %d blocks, expected the configuration, a query and a notification", len(blocks))
	}
	path := filepath.Join(t.TempDir(), "postern.yaml")
	datatest.WriteFile(t, path, string(blocks[0][1]))
	if c, err := config.Load(path, nil); err != nil || len(c.HTTP.Targets) != 2 {
		t.Errorf("configured %+v, %v", c, err)
	}
	flow := "handle: f\nname: f\nflowType: AUTHENTICATION\nnodes:\n  - {id: key, use: passkey-authenticate, next: {success: assess}}\n" +
		string(blocks[1][1]) + "  - {id: second, use: totp, next: {success: tell, none: tell, failure: key}}\n" + string(blocks[2][1]) + "  - {id: done, use: authorization-code}\n"
	if _, _, problems := engine.Check([]byte(flow), true, nodes.Kinds(nodes.Deps{})); len(problems) > 0 {
		t.Errorf("%v", problems)
	}
}
