package schemas

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// faulty is a text with one fault.
type faulty struct {
	name, text, want string
	yaml             bool
}

// faults reads testdata/faults. A file holds several texts: "=== name" begins
// one, "--- problem" ends it with the one problem expected. In the text, ␉ is a
// tab, ␀ a control character and ␦ a byte that is not UTF-8.
func faults(t testing.TB) []faulty {
	t.Helper()
	files, err := filepath.Glob("testdata/faults/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fault files (%v)", err)
	}
	var all []faulty
	for _, file := range files {
		content := datatest.ReadFile(t, file)
		for _, section := range strings.Split("\n"+string(content), "\n=== ")[1:] {
			name, rest, _ := strings.Cut(section, "\n")
			text, want, ok := strings.Cut("\n"+rest, "\n--- ")
			if !ok {
				t.Fatalf("%s: %s: no expected problem", file, name)
			}
			all = append(all, faulty{
				name: filepath.Base(file) + "/" + name,
				text: strings.NewReplacer("␉", "\t", "␀", "\x01", "␦", "\xff").Replace(strings.TrimPrefix(text, "\n")),
				want: strings.TrimSpace(want),
				yaml: strings.Contains(file, "yaml"),
			})
		}
	}
	return all
}

func TestFaults(t *testing.T) {
	for _, f := range faults(t) {
		t.Run(f.name, func(t *testing.T) {
			flow, _, problems := ParseFlow([]byte(f.text), f.yaml)
			if flow != nil {
				t.Errorf("the flow was accepted: %+v", flow)
			}
			if len(problems) != 1 {
				t.Fatalf("expected one problem, got %d: %v", len(problems), problems)
			}
			if got := problems[0].String(); got != f.want {
				t.Errorf("\n got %s\nwant %s\n in\n%.1000s", got, f.want, f.text)
			}
		})
	}
}
