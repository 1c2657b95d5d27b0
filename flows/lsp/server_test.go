package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// editor is a client of a server in the same process. It writes messages itself, so that it can also
// write wrong ones.
type editor struct {
	t      *testing.T
	out    *io.PipeWriter
	in     chan []byte // closed at the end
	ended  chan error
	lastID int
	// notes are the notifications that arrived before the reply to a request.
	notes []message
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// newEditor starts a server without a delay.
func newEditor(t *testing.T) *editor {
	t.Helper()
	fromEditor, toServer := io.Pipe()
	fromServer, toEditor := io.Pipe()
	e := &editor{t: t, out: toServer, in: make(chan []byte, 1000), ended: make(chan error, 1)}
	go receive(bufio.NewReader(fromServer), e.in)
	go func() {
		e.ended <- Serve(context.Background(), fromEditor, toEditor, Options{RulesPage: "rules.md", Log: t.Output()})
		toEditor.Close()
	}()
	t.Cleanup(func() { toServer.Close(); fromServer.Close() })
	return e
}

func (e *editor) write(text string) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.out, "Content-Length: %d\r\n\r\n%s", len(text), text); err != nil {
		e.t.Fatal(err)
	}
}

// receive reads messages while the editor writes: a server that waits for a reader reads nothing.
func receive(from *bufio.Reader, to chan<- []byte) {
	defer close(to)
	for {
		header, err := textproto.NewReader(from).ReadMIMEHeader()
		if err != nil {
			return
		}
		n, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			return
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(from, text); err != nil {
			return
		}
		to <- text
	}
}

func (e *editor) read() (m message) {
	e.t.Helper()
	text, ok := <-e.in
	if !ok {
		e.t.Fatal("the server has sent no further message")
	}
	datatest.Unmarshal(e.t, text, &m)
	return m
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	e.write(string(text))
}

// call makes a request and returns its reply.
func (e *editor) call(method string, params any) message {
	e.t.Helper()
	e.lastID++
	request := map[string]any{"jsonrpc": "2.0", "id": e.lastID, "method": method}
	if params != nil {
		request["params"] = params
	}
	text, _ := json.Marshal(request)
	e.write(string(text))
	for {
		m := e.read()
		if m.Method == "" && string(m.ID) == strconv.Itoa(e.lastID) {
			return m
		}
		e.notes = append(e.notes, m)
	}
}

// ask makes a request that must succeed, and decodes its result.
func (e *editor) ask(method string, params, result any) {
	e.t.Helper()
	m := e.call(method, params)
	if m.Error != nil {
		e.t.Fatalf("%s: %+v", method, *m.Error)
	}
	datatest.Unmarshal(e.t, m.Result, result)
}

func (e *editor) initialize(encodings ...string) {
	e.t.Helper()
	m := e.call("initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{"general": map[string]any{"positionEncodings": encodings}}})
	if m.Error != nil {
		e.t.Fatal(*m.Error)
	}
	e.notify("initialized", map[string]any{})
}

func (e *editor) open(path, text string) string {
	e.t.Helper()
	uri := openFiles{}.uriOf(path)
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
	return uri
}

// diagnostics waits for the findings about a version of a file.
func (e *editor) diagnostics(uri string, version int) []Diagnostic {
	e.t.Helper()
	for {
		var m message
		if len(e.notes) > 0 {
			m, e.notes = e.notes[0], e.notes[1:]
		} else {
			m = e.read()
		}
		var p publishDiagnosticsParams
		if m.Method != "textDocument/publishDiagnostics" {
			continue
		}
		datatest.Unmarshal(e.t, m.Params, &p)
		if p.URI == uri && p.Version != nil && *p.Version == version {
			return p.Diagnostics
		}
	}
}

// at returns the parameters for the place of a mark | in a text, and the text without it.
func at(t *testing.T, uri, marked string) (map[string]any, string) {
	t.Helper()
	before, after, found := strings.Cut(marked, "|")
	if !found {
		t.Fatal("the text has no mark")
	}
	content := newText(before+after, false)
	return map[string]any{"textDocument": map[string]any{"uri": uri}, "position": content.position(len(before))}, before + after
}

func TestLifeCycle(t *testing.T) {
	e := newEditor(t)
	code := func(m message) int {
		if m.Error == nil {
			return 0
		}
		return m.Error.Code
	}
	if got := code(e.call("textDocument/hover", map[string]any{})); got != -32002 {
		t.Errorf("a request before initialize: %d", got)
	}
	e.initialize()
	if got := code(e.call("initialize", map[string]any{})); got != -32600 {
		t.Errorf("a second initialize: %d", got)
	}
	if got := code(e.call("textDocument/implementation", map[string]any{})); got != -32601 {
		t.Errorf("an unknown method: %d", got)
	}
	if got := code(e.call("textDocument/hover", map[string]any{"position": "top"})); got != -32602 {
		t.Errorf("parameters of another type: %d", got)
	}
	if got := code(e.call("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": "file:///closed.yaml"}})); got != -32803 {
		t.Errorf("a file that is not open: %d", got)
	}
	e.notify("$/setTrace", map[string]any{"value": "off"})
	e.notify("$/cancelRequest", map[string]any{"id": 99})
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": "file:///closed.yaml", "version": 2}, "contentChanges": []any{map[string]any{"text": "x"}}})
	e.write(`{"jsonrpc": "2.0", "id": 7, "method": `)
	if m := e.read(); m.Error == nil || m.Error.Code != -32700 {
		t.Errorf("a message that is not JSON: %+v", m)
	}
	if got := code(e.call("shutdown", nil)); got != 0 {
		t.Errorf("shutdown: %d", got)
	}
	if got := code(e.call("textDocument/hover", map[string]any{})); got != -32600 {
		t.Errorf("a request after shutdown: %d", got)
	}
	e.notify("exit", nil)
	if err := <-e.ended; err != nil {
		t.Error(err)
	}
}

// Without the request shutdown, the end of the connection is an error: the exit code is 1.
func TestEndWithoutShutdown(t *testing.T) {
	for name, end := range map[string]func(e *editor){
		"exit":                  func(e *editor) { e.notify("exit", nil) },
		"the input ends":        func(e *editor) { e.out.Close() },
		"no header":             func(e *editor) { fmt.Fprint(e.out, "hello\r\n\r\n") },
		"a length of no number": func(e *editor) { fmt.Fprint(e.out, "Content-Length: ten\r\n\r\n") },
		"a header without end":  func(e *editor) { go io.Copy(e.out, endless("X: y\r\n")) },
		"a line without end":    func(e *editor) { go io.Copy(e.out, endless("x")) },
		"a huge length":         func(e *editor) { fmt.Fprint(e.out, "Content-Length: 99999999999\r\n\r\n") },
	} {
		e := newEditor(t)
		e.initialize()
		end(e)
		if err := <-e.ended; err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.HasPrefix(name, "exit") && !errors.Is(err, ErrNoShutdown) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// endless reads a text again and again.
type endless string

func (e endless) Read(p []byte) (n int, err error) {
	for n+len(e) <= len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

// A document that is too long to be a flow is not parsed, in whichever way it gets that long, and the server
// continues.
func TestLongDocuments(t *testing.T) {
	long := "nodes:\n" + strings.Repeat("  - {id: a, use: prompt}\n", maxDocument/20)
	e := newEditor(t)
	e.initialize()
	wantTooLong := func(uri string, version int) {
		t.Helper()
		if list := e.diagnostics(uri, version); len(list) != 1 || !strings.Contains(list[0].Message, "too long to be a flow") {
			t.Errorf("%s: %+v", uri, list)
		}
	}
	wantTooLong(e.open("/flows/long.yaml", long), 1)
	grown := e.open("/flows/grown.yaml", broken)
	e.diagnostics(grown, 1)
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": grown, "version": 2}, "contentChanges": []any{map[string]any{"text": long}}})
	wantTooLong(grown, 2)
	// A message that contains more is skipped.
	skipped := e.open("/flows/skipped.yaml", strings.Repeat("x", maxMessage))
	if m := e.call("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": skipped}, "position": map[string]any{}}); m.Error == nil || !strings.Contains(m.Error.Message, "is not open") {
		t.Errorf("%+v", m)
	}
	// Text that replaces the whole makes it a flow again.
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": grown, "version": 3}, "contentChanges": []any{map[string]any{"text": broken}}})
	if list := e.diagnostics(grown, 3); len(list) == 0 || strings.Contains(list[0].Message, "too long") {
		t.Errorf("after it was shortened: %+v", list)
	}
}

const broken = `handle: sign-in
name: "Zürich 🔑"
flowType: AUTHENTICATION
nodes:
  - id: key
    use: passkey-authenticate
    next: {success: done, failure: don}
  - {id: done, use: authorization-code}
`

func TestDiagnostics(t *testing.T) {
	e := newEditor(t)
	e.initialize()
	path := filepath.Join(t.TempDir(), "sign_in.yaml")
	uri := e.open(path, broken)
	list := e.diagnostics(uri, 1)
	if len(list) != 1 || list[0].Code != "target" || list[0].CodeDescription.Href != "rules.md#target" || list[0].Severity != 1 {
		t.Fatalf("%+v", list)
	}
	if want := (Range{Position{6, 35}, Position{6, 38}}); list[0].Range != want {
		t.Errorf("the range is %+v, want %+v", list[0].Range, want)
	}
	// The fix of the finding, as an incremental change.
	var actions []codeAction
	e.ask("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": list[0].Range, "context": map[string]any{"diagnostics": []any{}}}, &actions)
	if len(actions) != 1 || actions[0].Edit.Changes[uri][0].NewText != "done" {
		t.Fatalf("%+v", actions)
	}
	edit := actions[0].Edit.Changes[uri][0]
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 2}, "contentChanges": []any{map[string]any{"range": edit.Range, "text": edit.NewText}}})
	// A finding about a run shows the run.
	list = e.diagnostics(uri, 2)
	if len(list) != 1 || list[0].Code != "unauthenticated" || len(list[0].RelatedInformation) < 2 {
		t.Fatalf("%+v", list)
	}
	first := list[0].RelatedInformation[0]
	if first.Location.URI != uri || first.Location.Range.Start.Line < 4 || !strings.Contains(first.Message, "1. key") {
		t.Errorf("the first step is %+v", first)
	}
}

// A change of an unsaved sub-flow is checked in the flow that uses it, and in its scenarios.
func TestDependencies(t *testing.T) {
	dir := t.TempDir()
	const sub = "handle: ask\nname: Ask\nflowType: SUBFLOW\noutcomes: {in: Signed in.}\nnodes:\n  - {id: key, use: passkey-authenticate, next: {success: in}}\n"
	const flow = "handle: door\nname: Door\nflowType: AUTHENTICATION\nnodes:\n  - {id: first, use: flow, with: {flow: ask}, next: {in: done}}\n  - {id: done, use: authorization-code}\n"
	datatest.WriteFile(t, filepath.Join(dir, "door.yaml"), flow)
	e := newEditor(t)
	e.initialize()
	uri := e.open(filepath.Join(dir, "door.yaml"), flow)
	if list := e.diagnostics(uri, 1); len(list) == 0 || !strings.Contains(list[0].Message, `"ask"`) {
		t.Fatalf("without the sub-flow: %+v", list)
	}
	subURI := e.open(filepath.Join(dir, "ask.yaml"), sub) // not on the disk
	if list := e.diagnostics(uri, 1); len(list) != 0 {
		t.Errorf("with the sub-flow: %+v", list)
	}
	scenarios := e.open(filepath.Join(dir, "door_test.yaml"), "users:\n  ada: {attributes: {username: ada}, passkeys: [laptop]}\nscenarios:\n  - name: a\n    steps:\n      - expect: {step: first.keys}\n")
	if list := e.diagnostics(scenarios, 1); len(list) != 1 || list[0].Code != "scenario" {
		t.Errorf("the scenarios: %+v", list)
	}
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": subURI, "version": 2}, "contentChanges": []any{map[string]any{"text": strings.Replace(sub, "id: key", "id: keys", 1)}}})
	if list := e.diagnostics(scenarios, 1); len(list) != 0 {
		t.Errorf("the scenarios of the renamed node: %+v", list)
	}
}

// The types of the protocol count UTF-16 by default, and bytes if the client can do that.
func TestPositionEncoding(t *testing.T) {
	for encoding, want := range map[string]int{"utf-16": 28, "utf-8": 31} {
		e := newEditor(t)
		e.initialize("utf-32", encoding)
		uri := e.open(filepath.Join(t.TempDir(), "a.yaml"), "handle: a\nname: A\nflowType: AUTHENTICATION\nnodes:\n  - {id: end, name: \"Zü🔑\", usee: prompt}\n")
		found := false
		for _, d := range e.diagnostics(uri, 1) {
			found = found || d.Range.Start == Position{4, want}
		}
		if !found {
			t.Errorf("%s: no finding at character %d", encoding, want)
		}
	}
}
