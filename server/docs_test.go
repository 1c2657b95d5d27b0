package server_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
)

// docs/api.md lists exactly the existing endpoints.
func TestDocumentOfTheAPI(t *testing.T) {
	h := newTestServer(t)
	text := datatest.ReadFile(t, "../docs/api.md")
	var want []string
	five := map[string]bool{}
	for _, r := range h.directory.Resources() {
		n := r.Noun()
		want = append(want, fmt.Sprintf("| %ss | `%s` | `%s` | `%s` | %s | %s |", schemas.DisplayName(n.Name), n.Path, n.Read, n.Write, strings.Join(n.Filters, ", "), strings.Join(n.Prefixes, ", ")))
		for _, endpoint := range []string{"GET ", "POST "} {
			five[endpoint+n.Path] = true
		}
		for _, endpoint := range []string{"GET ", "PUT ", "PATCH ", "DELETE "} {
			five[endpoint+n.Path+"/{id}"] = true
		}
	}
	for _, r := range h.routes() {
		if endpoint := r.Method + " " + r.Path; !five[endpoint] {
			needs := r.Needs
			if !slices.Contains(texts(), needs) {
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
			t.Errorf("docs/api.md describes what does not exist:\n%s", line)
		}
	}
}

// docs/runs.md lists every member of the requests and replies of flows and passkeys.
func TestDocumentOfRuns(t *testing.T) {
	text := datatest.ReadFile(t, "../docs/runs.md")
	for _, body := range append(server.Bodies(), schemas.Step{}, schemas.StepData{}) {
		for _, name := range memberNames(reflect.TypeOf(body)) {
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("docs/runs.md does not tell of %s of %T", name, body)
			}
		}
	}
}

// memberNames are the names that a struct has in JSON, with those of structs without a
// name in it.
func memberNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
		if f.Type.Kind() == reflect.Struct && f.Type.Name() == "" || f.Anonymous {
			names = append(names, memberNames(f.Type)...)
		}
	}
	return names
}
