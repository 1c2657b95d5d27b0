package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// TestSecurityPageNamesTests compares docs/security.md with the tests: each test that it
// names exists, and each test of the audit's negative results is named.
func TestSecurityPageNamesTests(t *testing.T) {
	sequential(t)
	root := filepath.Join("..", "..")
	page := datatest.ReadFile(t, filepath.Join(root, "docs", "security.md"))
	there := testNames(t)
	named := map[string]bool{}
	for _, found := range regexp.MustCompile("`(Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(string(page), -1) {
		if named[found[1]] = true; !there[found[1]] {
			t.Errorf("docs/security.md names %s, which is no test", found[1])
		}
	}
	for test := range there {
		if strings.HasPrefix(test, "TestHeld") && !named[test] && test != "TestHeldFlows" && test != "TestHeldSubflows" && test != "TestHeldIdentityIsBoundToItsBrowser" {
			t.Errorf("docs/security.md does not name %s", test)
		}
	}
	if len(named) < 50 {
		t.Errorf("only %d tests are named", len(named))
	}
}
