package config

import (
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

var update = flag.Bool("update", false, "rewrite docs/configuration.md and examples/postern.yaml")

// The reference and the sample are those of the repository.
func TestGeneratedFiles(t *testing.T) {
	for path, text := range map[string]string{"../../docs/configuration.md": Reference(), "../../examples/postern.yaml": Sample()} {
		if *update {
			datatest.WriteFile(t, path, text)
		}
		kept, err := os.ReadFile(path)
		if err != nil || string(kept) != text {
			t.Errorf("%s is outdated (%v): run go test ./internal/config -run GeneratedFiles -update", path, err)
		}
	}
	for _, k := range keys() {
		if !strings.Contains(Reference(), "| `"+k.path+"` | ") || k.member.Description == "" {
			t.Errorf("the reference does not describe %s", k.path)
		}
	}
}

// The sample changes no default, neither as it is nor with its defaults set.
func TestSample(t *testing.T) {
	want, problems := load(nil, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	key := regexp.MustCompile(`(?m)^( *)# (\w+: .+)$`)
	if n := len(key.FindAllString(Sample(), -1)); n < 50 {
		t.Errorf("only %d keys have a default", n)
	}
	for name, text := range map[string]string{"as it is": Sample(), "with its defaults": key.ReplaceAllString(Sample(), "$1$2")} {
		got, problems := load([]byte(text), nil)
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		got.Sources = want.Sources
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nexpected %+v", name, got, want)
		}
	}
}
