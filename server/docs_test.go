package server_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// docs/api.md tells of every endpoint there is, and of no other.
func TestDocumentOfTheAPI(t *testing.T) {
	h := newHouse(t)
	text, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	five := map[string]bool{}
	for _, r := range h.directory.Resources() {
		n := r.Noun()
		want = append(want, fmt.Sprintf("| %ss | `%s` | `%s` | `%s` | %s |", schemas.Words(n.Name), n.Path, n.Read, n.Write, strings.Join(n.Filters, ", ")))
		for _, endpoint := range []string{"GET ", "POST "} {
			five[endpoint+n.Path] = true
		}
		for _, endpoint := range []string{"GET ", "PUT ", "DELETE "} {
			five[endpoint+n.Path+"/{id}"] = true
		}
	}
	for _, r := range h.routes() {
		if endpoint := r.Method + " " + r.Path; !five[endpoint] {
			needs := r.Needs
			if !slices.Contains(words(), needs) {
				needs = "`" + needs + "`"
			}
			want = append(want, "| `"+endpoint+"` | "+needs+" |")
		}
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "| `") && strings.Contains(line, " /") || strings.HasPrefix(line, "| ") && strings.Contains(line, "| `/") {
			got = append(got, line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("docs/api.md lacks the line\n%s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("docs/api.md tells of what is not there:\n%s", line)
		}
	}
}
