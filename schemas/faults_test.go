package schemas

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFaults reads texts with one fault each. A file of testdata/faults holds
// several: "=== name" begins one, "--- problem" ends it with the one problem
// expected. In the text, ␉ is a tab, ␀ a control character and ␦ a byte that is
// not UTF-8.
func TestFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fault files (%v)", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range strings.Split("\n"+string(content), "\n=== ")[1:] {
			name, rest, _ := strings.Cut(section, "\n")
			text, want, ok := strings.Cut("\n"+rest, "\n--- ")
			if !ok {
				t.Fatalf("%s: %s: no expected problem", file, name)
			}
			text = strings.NewReplacer("␉", "\t", "␀", "\x01", "␦", "\xff").Replace(strings.TrimPrefix(text, "\n"))
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				checkFault(t, text, strings.TrimSpace(want), strings.Contains(file, "yaml"))
			})
		}
	}
}

func checkFault(t *testing.T, text, want string, yaml bool) {
	t.Helper()
	flow, _, problems := ParseFlow([]byte(text), yaml)
	if flow != nil {
		t.Errorf("the flow was accepted: %+v", flow)
	}
	if len(problems) != 1 {
		t.Fatalf("expected one problem, got %d: %v", len(problems), problems)
	}
	if got := problems[0].String(); got != want {
		t.Errorf("\n got %s\nwant %s\n in\n%s", got, want, text)
	}
}
