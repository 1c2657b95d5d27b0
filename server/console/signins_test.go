package console

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The console has a sentence, in each language, for each event that a run records about a user, and for
// each reason of a failed attempt.
func TestEventsOfRunsAreExplained(t *testing.T) {
	page, texts := readSource(t, "web/src/SignInHelp.tsx"), readSource(t, "web/src/texts/users.ts")
	german, french, _ := strings.Cut(texts, "export const french")
	explained := func(key string) {
		t.Helper()
		found := regexp.MustCompile(`\n  "?` + regexp.QuoteMeta(key) + `"?: ("[^"\n]+"),`).FindStringSubmatch(page)
		if found == nil {
			t.Errorf("SignInHelp.tsx does not explain %s", key)
		} else if !strings.Contains(german, found[1]+": ") || !strings.Contains(french, found[1]+": ") {
			t.Errorf("%s has no German or no French text", found[1])
		}
	}
	reasons := regexp.MustCompile(`(?m)^\tReason\w+\s+= "(\w+)"`).FindAllStringSubmatch(readSource(t, "../../schemas/reasons.go"), -1)
	for _, reason := range reasons {
		explained(reason[1])
	}
	recorded := regexp.MustCompile(`\b(?:event\(v, |proof\(v, |recordEvent\()"(\w+\.\w+)"`)
	var events [][]string
	for _, pattern := range []string{"../../nodes/*.go", "../../engine/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				events = append(events, recorded.FindAllStringSubmatch(readSource(t, name), -1)...)
			}
		}
	}
	for _, event := range events {
		explained(event[1])
	}
	if len(reasons) < 15 || len(events) < 20 {
		t.Errorf("found %d reasons and %d events", len(reasons), len(events))
	}
}

func readSource(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
