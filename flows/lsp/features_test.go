package lsp

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/postern-id/postern/internal/datatest"
)

const door = `# The door.
handle: door
name: Door
flowType: AUTHENTICATION
waive: []
nodes:
  - id: first
    use: flow
    with: {flow: ask}
    next: {in: check, out: first} # key or again
  # Checks the type.
  - id: check
    use: decision
    with:
      cases: [{when: "user.type == 'Person'", outcome: person}]
    next: {person: done, otherwise: "first"}
  - {id: done, use: authorization-code}
`

const ask = `handle: ask
name: Ask
flowType: SUBFLOW
outcomes: {in: Signed in., out: Not.}
nodes:
  - {id: key, use: passkey-authenticate, next: {success: in, failure: out}}
`

const doorTest = `users:
  ada: {attributes: {username: ada}, passkeys: [laptop]}
scenarios:
  - name: a passkey opens
    steps:
      - expect: {step: first.key}
      - send: {passkey: {device: laptop}}
        expect: {status: COMPLETE}
`

// doorway opens the door with its sub-flow and scenarios, the latter only on the disk.
func doorway(t *testing.T) (e *editor, dir string) {
	dir = t.TempDir()
	datatest.WriteFile(t, filepath.Join(dir, "ask.yaml"), ask)
	datatest.WriteFile(t, filepath.Join(dir, "door_test.yaml"), doorTest)
	e = newEditor(t)
	e.initialize()
	return e, dir
}

func TestComplete(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, label, edit string }{
		"a target":           {"door.yaml", strings.Replace(door, "in: check", "in: che|", 1), "check", "check"},
		"an outcome":         {"door.yaml", strings.Replace(door, "{in: check, out: first}", "{|}", 1), "out", "out: "},
		"a member":           {"door.yaml", strings.Replace(door, "waive: []", "gua|", 1), "guarantees", "guarantees: "},
		"an expression":      {"door.yaml", strings.Replace(door, "user.type ==", "user.att| ==", 1), "user.attributes.email", "user.attributes.email"},
		"a step":             {"door_test.yaml", strings.Replace(doorTest, "first.key", "fi|", 1), "first.key", "first.key"},
		"an error":           {"door_test.yaml", strings.Replace(doorTest, "status: COMPLETE", "error: pass|", 1), "passkey_verification_failed", "passkey_verification_failed"},
		"a user of the file": {"door_test.yaml", strings.Replace(doorTest, "status: COMPLETE", "user: |", 1), "ada", "ada"},
	} {
		e, dir := doorway(t)
		datatest.WriteFile(t, filepath.Join(dir, "door.yaml"), door)
		params, text := at(t, openFiles{}.uriOf(filepath.Join(dir, tt.file)), tt.text)
		e.open(filepath.Join(dir, tt.file), text)
		var list completionList
		e.ask("textDocument/completion", params, &list)
		i := slices.IndexFunc(list.Items, func(c completionItem) bool { return c.Label == tt.label })
		if i < 0 {
			t.Errorf("%s: %+v", name, list)
			continue
		}
		item := list.Items[i]
		typed := strings.TrimRight(tt.text[:strings.Index(tt.text, "|")], "")
		from := item.TextEdit.Range.Start
		if item.TextEdit.NewText != tt.edit || item.TextEdit.Range.End != params["position"] {
			t.Errorf("%s: %+v", name, item)
		}
		last := typed[strings.LastIndex(typed, "\n")+1:]
		if strings.ContainsAny(last[from.Character:], " {:'") {
			t.Errorf("%s replaces %q", name, last[from.Character:])
		}
	}
}

func TestHover(t *testing.T) {
	for name, tt := range map[string]struct{ old, mark, has string }{
		"a kind":         {"use: decision", "use: deci|sion", "node `check`"},
		"a node":         {"person: done", "person: do|ne", "an authenticated user"},
		"the guarantees": {"handle: door", "han|dle: door", "guarantees acr phr"},
		"a member":       {"flowType: A", "flow|Type: A", "The purpose of the flow"},
	} {
		e, dir := doorway(t)
		params, text := at(t, openFiles{}.uriOf(filepath.Join(dir, "door.yaml")), strings.Replace(door, tt.old, tt.mark, 1))
		e.open(filepath.Join(dir, "door.yaml"), text)
		var h hover
		if e.ask("textDocument/hover", params, &h); !strings.Contains(h.Contents.Value, tt.has) {
			t.Errorf("%s: %s", name, h.Contents.Value)
		}
	}
}

func TestDefinition(t *testing.T) {
	for name, tt := range map[string]struct {
		file, text, target string
		line               int
	}{
		"a target":              {"door.yaml", strings.Replace(door, "in: check", "in: ch|eck", 1), "door.yaml", 11},
		"a sub-flow":            {"door.yaml", strings.Replace(door, "flow: ask", "flow: a|sk", 1), "ask.yaml", 0},
		"the node of a step":    {"door_test.yaml", strings.Replace(doorTest, "first.key", "first.k|ey", 1), "ask.yaml", 5},
		"an outcome as target":  {"ask.yaml", strings.Replace(ask, "success: in", "success: i|n", 1), "ask.yaml", 3},
		"the flow of scenarios": {"door_test.yaml", "flow: do|or.yaml\n" + doorTest, "door.yaml", 0},
	} {
		e, dir := doorway(t)
		datatest.WriteFile(t, filepath.Join(dir, "door.yaml"), door)
		params, text := at(t, openFiles{}.uriOf(filepath.Join(dir, tt.file)), tt.text)
		e.open(filepath.Join(dir, tt.file), text)
		var l Location
		if e.ask("textDocument/definition", params, &l); l.URI != (openFiles{}.uriOf(filepath.Join(dir, tt.target))) || l.Range.Start.Line != tt.line {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// apply returns a text after edits, which are in order.
func apply(t *testing.T, content string, edits []TextEdit) string {
	t.Helper()
	for _, e := range slices.Backward(edits) {
		before := newText(content, false)
		content = before.replaced(contentChange{&e.Range, e.NewText}).content
	}
	return content
}

func TestRename(t *testing.T) {
	e, dir := doorway(t)
	uri := openFiles{}.uriOf(filepath.Join(dir, "door.yaml"))
	tests := openFiles{}.uriOf(filepath.Join(dir, "door_test.yaml"))
	params, text := at(t, uri, strings.Replace(door, `"first"`, `"fi|rst"`, 1))
	e.open(filepath.Join(dir, "door.yaml"), text)
	var list []Location
	params["context"] = map[string]any{"includeDeclaration": true}
	if e.ask("textDocument/references", params, &list); len(list) != 4 {
		t.Errorf("%d references: %+v", len(list), list)
	}
	params["newName"] = "begin"
	var edit workspaceEdit
	e.ask("textDocument/rename", params, &edit)
	if got, want := apply(t, door, edit.Changes[uri]), strings.ReplaceAll(door, "first", "begin"); got != want {
		t.Errorf("the flow is\n%s", got)
	}
	if got := apply(t, doorTest, edit.Changes[tests]); got != strings.Replace(doorTest, "first.key", "begin.key", 1) {
		t.Errorf("the scenarios are\n%s", got)
	}
	for _, name := range []string{"end", "check", "a b", ""} {
		params["newName"] = name
		if m := e.call("textDocument/rename", params); m.Error == nil {
			t.Errorf("the new name %q is accepted", name)
		}
	}
	// The node of a sub-flow is renamed in the scenarios of the flow that uses it.
	params, text = at(t, openFiles{}.uriOf(filepath.Join(dir, "ask.yaml")), strings.Replace(ask, "id: key", "id: k|ey", 1))
	askURI := e.open(filepath.Join(dir, "ask.yaml"), text)
	params["newName"] = "passkey"
	edit = workspaceEdit{}
	e.ask("textDocument/rename", params, &edit)
	if got := apply(t, doorTest, edit.Changes[tests]); got != strings.Replace(doorTest, "first.key", "first.passkey", 1) || len(edit.Changes[askURI]) != 1 {
		t.Errorf("the edits are %+v", edit)
	}
	// An outcome is no node.
	params, _ = at(t, askURI, strings.Replace(ask, "success: in", "success: i|n", 1))
	if m := e.call("textDocument/prepareRename", params); m.Error == nil {
		t.Errorf("an outcome can be renamed: %s", m.Result)
	}
}

func TestSymbolsFoldingAndFormat(t *testing.T) {
	e, dir := doorway(t)
	uri := e.open(filepath.Join(dir, "door.yaml"), strings.Replace(door, "waive: []", "\n\nwaive:   []", 1))
	document := map[string]any{"textDocument": map[string]any{"uri": uri}}
	var symbols []documentSymbol
	e.ask("textDocument/documentSymbol", document, &symbols)
	if len(symbols) != 3 || symbols[1].Name != "check" || symbols[1].Detail != "decision" || symbols[1].Range.End.Line <= symbols[1].Range.Start.Line {
		t.Errorf("%+v", symbols)
	}
	var folds []foldingRange
	e.ask("textDocument/foldingRange", document, &folds)
	if !slices.Contains(folds, foldingRange{StartLine: 8, EndLine: 11}) {
		t.Errorf("%+v", folds)
	}
	var edits []TextEdit
	e.ask("textDocument/formatting", document, &edits)
	if got := apply(t, strings.Replace(door, "waive: []", "\n\nwaive:   []", 1), edits); got != strings.NewReplacer("waive: []", "\nwaive: []", `"first"`, "first").Replace(door) || len(edits) != 1 || edits[0].Range.Start.Line < 4 {
		t.Errorf("%+v\n%s", edits, got)
	}
}

func TestGraph(t *testing.T) {
	e, dir := doorway(t)
	uri := e.open(filepath.Join(dir, "door.yaml"), door)
	var lenses []codeLens
	if e.ask("textDocument/codeLens", map[string]any{"textDocument": map[string]any{"uri": uri}}, &lenses); len(lenses) != 1 || lenses[0].Command.Command != commandShowGraph {
		t.Fatalf("%+v", lenses)
	}
	var g graph
	e.ask("workspace/executeCommand", lenses[0].Command, &g)
	if !g.Proven || len(g.Nodes) != 3 || g.Nodes[1].Next["person"] != "done" || !strings.Contains(g.SVG, `data-node="first.key"`) {
		t.Errorf("%+v", g)
	}
	uri = e.open(filepath.Join(dir, "broken.yaml"), broken)
	e.ask("workspace/executeCommand", map[string]any{"command": commandGraph, "arguments": []string{uri}}, &g)
	if g.Proven || len(g.Nodes) != 2 || !strings.Contains(g.SVG, `data-node="don"`) {
		t.Errorf("%+v", g)
	}
	if m := e.call("workspace/executeCommand", map[string]any{"command": "rm", "arguments": []string{uri}}); m.Error == nil {
		t.Error("an unknown command succeeds")
	}
}

// A file that is not a flow has no findings, and a text that cannot be parsed has results of every kind.
func TestOtherTexts(t *testing.T) {
	for name, text := range map[string]string{
		"another YAML file": "services: {web: {image: x}}\n",
		"an empty file":     "",
		"no YAML":           "nodes: [\n  - {id: ",
		"odd nodes":         "nodes: {a: 1}\nwaive: 3\nflowType: [x]\n",
		"not UTF-8":         "nodes: \xff\xfe\n",
		"a scalar":          "nodes",
	} {
		e, dir := doorway(t)
		uri := e.open(filepath.Join(dir, "x.yaml"), text)
		list := e.diagnostics(uri, 1)
		if isWrong := strings.Contains(text, "nodes:"); isWrong != (len(list) > 0) {
			t.Errorf("%s: %+v", name, list)
		}
		for method := range handlers() {
			if strings.HasPrefix(method, "textDocument/") && !strings.Contains(method, "/did") {
				m := e.call(method, map[string]any{"textDocument": map[string]any{"uri": uri}, "position": Position{1, 5}, "newName": "x", "range": Range{}, "context": map[string]any{}})
				if m.Error != nil && m.Error.Code != int(codeFailed) {
					t.Errorf("%s: %s: %+v", name, method, *m.Error)
				}
			}
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add(door, 3, 7, 9, 2, "x")
	f.Add(doorTest, 5, 20, 5, 24, "[\n")
	f.Add("a: \"🔑\r\nb", 0, 5, 1, 0, "ü")
	s := &server{docs: openFiles{}}
	f.Fuzz(func(t *testing.T, content string, startLine, start, endLine, end int, insert string) {
		for _, bytes := range []bool{true, false} {
			before := newText(content, bytes)
			after := before.replaced(contentChange{&Range{Position{startLine, start}, Position{endLine, end}}, insert})
			if !strings.Contains(after.content, insert) {
				t.Errorf("%q lacks %q", after.content, insert)
			}
			s.docs = openFiles{"a.yaml": {uri: "a", path: "a.yaml", text: after}}
			o := s.other(s.docs, "a.yaml")
			_ = indexOf(o)
			for offset := range len(after.content) + 1 {
				if offset < len(after.content) && !utf8.RuneStart(after.content[offset]) {
					continue
				}
				at := after.offset(after.position(offset))
				if at > offset || offset-at > 4 {
					t.Errorf("offset %d of %q becomes %d", offset, after.content, at)
				}
				if o.tree != nil {
					_ = o.tree.At(offset)
				}
			}
		}
	})
}
