package signins

import (
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// Each event that a run can record about a user has a sentence, and so has each reason.
func TestEachEventHasASentence(t *testing.T) {
	recorded := regexp.MustCompile(`\b(?:event\(v, |proof\(v, |consentEvent\(v, |recordEvent\(|action, detail := )"(\w+\.\w+)"`)
	actions := 0
	for _, name := range datatest.Glob(t, "../../nodes/*.go", "../../engine/*.go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, found := range recorded.FindAllStringSubmatch(string(datatest.ReadFile(t, name)), -1) {
			if actions++; actionTexts()[found[1]] == "" {
				t.Errorf("%s records %s, which has no sentence", name, found[1])
			}
		}
	}
	reasons := regexp.MustCompile(`(?m)^\tReason\w+\s+= "(\w+)"`).FindAllStringSubmatch(string(datatest.ReadFile(t, "../../schemas/reasons.go")), -1)
	for _, reason := range reasons {
		if reasonTexts()[reason[1]] == "" && wrongMailedTexts()[reason[1]] == "" {
			t.Errorf("the reason %s has no sentence", reason[1])
		}
	}
	if actions < 25 || len(reasons) < 15 {
		t.Errorf("found %d actions and %d reasons", actions, len(reasons))
	}
}
