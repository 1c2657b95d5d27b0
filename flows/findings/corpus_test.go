package findings

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows/rules"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// faulty is a flow with a fault.
type faulty struct {
	name, text string
	wants      []want
}

// want is an expected finding at a line.
type want struct {
	line    int
	warning bool
	rule    string
	message *regexp.Regexp
}

// wanted is the comment on a faulty line: `# want target: "there is no node"`, or `# want
// warning takeover: "…"`. The quoted text is a regular expression.
var wanted = regexp.MustCompile(`  # want (warning )?([a-z]+): "(.*)"$`)

// broken parses the fault files: short flows, each after a line "=== name", with comments on the
// faulty lines that state the expected findings. The comments are not part of the flows.
func broken(t *testing.T) (list []faulty) {
	t.Helper()
	files, err := filepath.Glob("../testdata/broken/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fault files (%v)", err)
	}
	for _, file := range files {
		text := datatest.ReadFile(t, file)
		for _, section := range strings.Split("\n"+string(text), "\n=== ")[1:] {
			name, body, _ := strings.Cut(section, "\n")
			f := faulty{name: filepath.Base(file) + "/" + name}
			for i, line := range strings.SplitAfter(body, "\n") {
				if m := wanted.FindStringSubmatchIndex(strings.TrimSuffix(line, "\n")); m != nil {
					rest := strings.TrimSuffix(line, "\n")
					f.wants = append(f.wants, want{i + 1, m[2] >= 0, rest[m[4]:m[5]], regexp.MustCompile(rest[m[6]:m[7]])})
					line = rest[:m[0]] + "\n"
				}
				f.text += line
			}
			list = append(list, f)
		}
	}
	return list
}

func (w want) is(p schemas.Problem) bool {
	return p.Line == w.line && p.Rule == w.rule && p.Warning == w.warning && w.message.MatchString(p.Message)
}

// Every broken flow has exactly the expected findings at their lines, and every rule is broken
// by at least one.
func TestBrokenFlows(t *testing.T) {
	list := broken(t)
	if len(list) < 150 {
		t.Errorf("there are %d broken flows", len(list))
	}
	rule := map[string]bool{rules.Scenario: true} // the rule of scenario files
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			got := checked(t, Source{Name: "../testdata/good/a.yaml", Text: []byte(f.text)})[0]
			if !got.Refused() {
				t.Error("it is not refused")
			}
			if len(f.wants) == 0 || len(got.Findings) != len(f.wants) {
				t.Fatalf("findings: %v", got.Findings)
			}
			for _, p := range got.Findings {
				if p.Follows != nil && root(p, got.Findings) == nil {
					t.Errorf("%v follows from no finding", p)
				}
			}
			for i, w := range f.wants {
				rule[w.rule] = true
				if !w.is(got.Findings[i]) {
					t.Errorf("got  %v\nwant %s at line %d: %s", got.Findings[i], w.rule, w.line, w.message)
				}
			}
		})
	}
	for _, r := range rules.All() {
		if !rule[r.ID] && r.ID != schemas.RuleClaim { // of applications
			t.Errorf("no flow of the corpus breaks the rule %s", r.ID)
		}
	}
}

// Realistic flows of organizations have no findings except waived ones.
func TestGoodFlows(t *testing.T) {
	files, err := filepath.Glob("../testdata/good/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("there are %s good flows (%v)", strconv.Itoa(len(files)), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text := datatest.ReadFile(t, file)
			f := checked(t, Source{Name: file, Text: text})[0]
			if waives := strings.Contains(string(text), "\nwaive:"); f.Refused() || (len(f.Findings) > 0) != waives {
				t.Errorf("findings: %v", f.Findings)
			}
		})
	}
}
