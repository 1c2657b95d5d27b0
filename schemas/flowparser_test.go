package schemas

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// sameParse compares what a FlowParser and ParseYAML return for a text: values, places and problems.
func sameParse(t *testing.T, p *FlowParser, text string) {
	t.Helper()
	got, gotProblems := p.ParseYAML([]byte(text))
	want, wantProblems := ParseYAML([]byte(text))
	if (got == nil) != (want == nil) || got != nil && !reflect.DeepEqual(got.root, want.root) || !reflect.DeepEqual(gotProblems, wantProblems) {
		t.Errorf("parsed in parts: %s %v\nas a whole: %s %v\nof %q", show(got), gotProblems, show(want), wantProblems, text)
		return
	}
	if got != nil {
		sameFlow(t, got, want)
		sameFlow(t, got.WithoutAbsent(FlowSchema()), want.WithoutAbsent(FlowSchema()))
	}
}

// sameFlow compares the flows that are read from two documents, and their problems.
func sameFlow(t *testing.T, got, want *Document) {
	t.Helper()
	gotFlow, gotProblems := ReadFlow(got)
	wantFlow, wantProblems := ReadFlow(want)
	if !reflect.DeepEqual(gotFlow, wantFlow) || !reflect.DeepEqual(gotProblems, wantProblems) {
		t.Errorf("read in parts: %+v %v\nas a whole: %+v %v\nof %s", gotFlow, gotProblems, wantFlow, wantProblems, want.JSON())
	}
}

// show writes the values of a document with their places.
func show(d *Document) string {
	if d == nil {
		return "nothing"
	}
	var b strings.Builder
	var write func(e *element)
	write = func(e *element) {
		fmt.Fprintf(&b, "%d:%d %s ", e.line, e.column, e.text)
		for _, item := range e.items {
			write(item)
		}
		for _, m := range e.members() {
			fmt.Fprintf(&b, "%d:%d %s: ", m.line, m.column, m.name)
			write(m.value)
		}
	}
	write(d.root)
	return b.String()
}

func TestFlowParser(t *testing.T) {
	var p FlowParser
	for _, text := range []string{
		"name: a\nnodes:\n  - id: a\n    next: {ok: b}\n  - id: b\n",
		"name: a\nnodes:\n  - id: a2\n    next: {ok: b}\n  - id: b\n",
		"name: a\n# more\nnodes: \n\n  # one\n  - id: a2\n    next: {ok: b}\n\n  - id: b\nwaive:\n  - {rule: chain}\n",
		"nodes:\n- id: a\n- id: b\n- {id: c}\nname: a\n",
		"nodes:\n-\n  id: a\n-\n  id: b\nname: a",
		"nodes:\n  - id: a\n    with: {text: \"one\n  - two\"}\n  - id: b\n",
		"nodes:\n  - id: a\n    with:\n      text: |\n        - id: c\n\n  - id: b\n",
		"nodes:\n  - id: a\n    with:\n      text: |+\n        one\n\n\n  - id: b\n",
		"nodes:\n  - id: a\n  - id: a\n  - id: a\n",
		"nodes:\n  - id: &x a\n  - id: *x\n", "nodes:\n  - id: a\n    id: b\n", "nodes:\n  - id: a\nnodes:\n  - id: b\n",
		"{\nnodes:\n  - id: a\n}\n", "name: {\nnodes:\n  - id: a\n}\n", "nodes:\n  - id: a\n---\nname: b\n", "nodes:\n  - id: a\n...\n",
		"nodes:\n  - id: a\n - id: b\n", "nodes:\n  - id: a\n  id: b\n", "nodes:\n  - id: a\n\t- id: b\n", "nodes:\r\n  - id: a\r\n", "nodes:\n", "nodes:\n# none\n",
		"nodes:\n  - id: a # one\n# two\n  # three\n  - id: b\n# four\nname: c\n", "- nodes:\n  - a\nnodes:\n  - b\n", "nodes:\n  - id: a\n    at: " + strings.Repeat("[", 98) + strings.Repeat("]", 98) + "\n",
	} {
		sameParse(t, &p, text)
		sameParse(t, &p, text) // from what it has kept
	}
}

// Every text of a flow that is typed letter by letter is parsed as a whole text is.
func TestFlowParserWhileTyping(t *testing.T) {
	names, err := filepath.Glob("../flows/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text := datatest.ReadFile(t, name)
		var p FlowParser
		for at := 7; at < len(text); at += 1009 {
			for _, typed := range []string{"", "x", "\n", "\"", ":", " - ", "# ", "- ", "[", "}"} {
				sameParse(t, &p, string(text[:at])+typed+string(text[at:]))
			}
		}
	}
}

func FuzzFlowParser(f *testing.F) {
	f.Add("name: a\nnodes:\n  - id: a\n    next: {ok: b}\n  - id: b\n", 30, "\n  - id: c")
	f.Add("nodes:\n- id: a\n  with: {text: \"one\n  two\"}\n- id: b\nname: c\n", 12, "# ")
	f.Fuzz(func(t *testing.T, text string, at int, typed string) {
		var p FlowParser
		sameParse(t, &p, text)
		at = max(0, min(at, len(text)))
		sameParse(t, &p, text[:at]+typed+text[at:])
	})
}
