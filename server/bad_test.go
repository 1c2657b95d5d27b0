package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// bad is a body that is refused, whether it is to create a resource or to
// replace one: at the path with a message that says what to do. Words in angle
// brackets stand for what is there: see scene.
type bad struct {
	body, path, says string
	status           int // 0: 400
}

// scene makes what the bad bodies refer to, and returns the words for it.
func scene(h *testServer, n directory.Noun, s sample) *strings.Replacer {
	h.create(n.Path, numbered(s.body, "taken"))
	if n.Plural == "applications" {
		h.create(n.Path, `{"name":"Taken","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"TAKEN","grantTypes":["client_credentials"]}}]}`)
	}
	flow := func(of string) string {
		page, _ := h.ok(200, "GET /flows?limit=1&flowType="+of, "")
		return page.list("flows")[0].text("id")
	}
	return strings.NewReplacer("<unit>", h.unit, "<nobody>", "00000000-0000-7000-8000-000000000000",
		"<authentication>", flow("AUTHENTICATION"), "<registration>", flow("REGISTRATION"))
}

// common are bodies that are bad for every kind of resource: made from one that
// is good, which has strings at the paths of texts.
func common(t *testing.T, good, required string) []bad {
	without := func(name string) string { return change(t, good, name, nil) }
	with := func(name string, value any) string { return change(t, good, name, value) }
	inner := strings.TrimSuffix(strings.TrimPrefix(good, "{"), "}")
	rows := []bad{
		{``, "", "end of the text", 0},
		{` `, "", "end of the text", 0},
		{`{`, "", "expected", 0},
		{strings.TrimSuffix(good, "}"), "", "expected", 0},
		{`{` + inner + `,}`, "", "expected", 0},
		{`{'name':"x"}`, "", "expected", 0},
		{good + good, "", "expected the end of the text after the first value", 0},
		{"\xff" + good, "", "not valid UTF-8", 0},
		{`{` + inner + `,"x":1e999}`, "x", "out of range; expected one between", 0},
		{`{` + inner + `,"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "x" + strings.Repeat("[0]", 99), "nested deeper than 100 levels", 0},
		{`{` + inner + `,"` + required + `":"x"}`, required, "is given twice, first on line 1; remove one", 0},
		{`null`, "", "expected an object, got null", 0},
		{`[` + good + `]`, "", "expected an object, got a list", 0},
		{`"x"`, "", "expected an object, got a string", 0},
		{`7`, "", "expected an object, got", 0},
		{`true`, "", "expected an object, got", 0},
		{`{}`, required, `required member "` + required + `" is missing`, 0},
		{without(required), required, `required member "` + required + `" is missing`, 0},
		{with(required, json.RawMessage("null")), required, `required member "` + required + `" is missing`, 0},
		{with(required, 7), required, "expected a string, got", 0},
		{with(required, []string{"x"}), required, "expected a string, got a list", 0},
		{with(strings.ToUpper(required), "x"), strings.ToUpper(required), `did you mean "` + required + `"?`, 0},
		{with(required+"x", "x"), required + "x", `did you mean "` + required + `"?`, 0},
		{with("zzzzzz", "x"), "zzzzzz", "unknown member", 0},
		{with("id", 7), "id", "expected a string, got", 0},
		{with("id", "not-a-uuid"), "id", "expected", 0},
		{with("id", strings.Repeat("x", 65)), "id", "expected", 0},
		{with("createdAt", 7), "createdAt", "expected a string, got", 0},
		{with("updatedAt", "yesterday"), "updatedAt", "expected a time such as 2026-01-31T12:00:00Z", 0},
	}
	return rows
}

// change sets a member of a JSON object, or with nil removes it.
func change(t *testing.T, object, name string, value any) string {
	var m map[string]any
	datatest.Unmarshal(t, []byte(object), &m)
	m[name] = value
	if value == nil {
		delete(m, name)
	}
	return asJSON(t, m)
}

// Every bad body is refused with the place of the fault and what to do, and
// leaves nothing behind.
func TestBadBodies(t *testing.T) {
	specific := badBodies()
	eachNoun(t, newTestServer(t), func(t *testing.T, h *testServer, n directory.Noun, s sample) {
		words := scene(h, n, s)
		made, _ := h.ok(201, "POST "+n.Path, numbered(s.body, "own"))
		rows := append(common(t, words.Replace(numbered(s.body, "bad")), s.required), specific[n.Plural]...)
		if len(rows) < 30 || len(specific[n.Plural]) < 5 {
			t.Errorf("only %d rows, %d of its own", len(rows), len(specific[n.Plural]))
		}
		before := h.footprint()
		for _, row := range rows {
			body := words.Replace(row.body)
			for _, request := range []string{"POST " + n.Path, "PUT " + n.Path + "/" + made.text("id")} {
				refuses(t, h, request, body, row)
			}
		}
		if after := h.footprint(); after != before {
			t.Errorf("before %s, after %s", before, after)
		}
	})
}

// refuses checks that a body is refused as it should be.
func refuses(t *testing.T, h *testServer, request, body string, row bad) {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	rec := h.do(method, path, body, h.admin, "Content-Type: application/json")
	var f failure
	if err := json.Unmarshal(rec.Body.Bytes(), &f); err != nil || rec.Code != max(row.status, 400) {
		t.Errorf("%s %.200s: %d %s", request, body, rec.Code, rec.Body)
		return
	}
	reported := slices.ContainsFunc(f.Errors, func(p schemas.Problem) bool {
		return p.Path == row.path && strings.Contains(p.Message, row.says) && len(p.Message) > 8 && (p.Line > 0 || rec.Code == 409)
	})
	if !reported {
		t.Errorf("%s %.200s:\n\tgot %v\n\twant %q at %q", request, body, f.Errors, row.says, row.path)
	}
}

// footprint counts all resources and events.
func (h *testServer) footprint() string {
	h.t.Helper()
	counts := map[string]int{}
	for _, r := range h.directory.Resources() {
		page, _ := h.ok(200, "GET "+r.Noun().Path, "")
		counts[r.Noun().Plural] = page.number("totalResults")
	}
	events, err := h.db.Events(h.t.Context(), schemas.EventQuery{Limit: 1e6})
	if err != nil {
		h.t.Fatal(err)
	}
	changes := slices.DeleteFunc(events, func(e schemas.Event) bool { return e.Action == "request.refused" })
	counts["events"] = len(changes)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(list, ", ")
}

// All faults are reported at once: those of the schema, of the rules, and conflicts with other
// resources.
func TestBadBodiesReportAllErrors(t *testing.T) {
	h := newTestServer(t)
	h.create("/groups", `{"name":"Taken"}`)
	f := fails(t, h.do("POST", "/groups", `{"name":"Taken","description":7,"ouId":"nope","members":[{"type":"user","id":"nobody"},{"type":"robot"}],"foo":1}`, h.admin), 400, schemas.CodeInvalidRequest)
	var paths []string
	for _, p := range f.Errors {
		paths = append(paths, p.Path)
	}
	want := "name description ouId members[0].id members[1].id members[1].type foo"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("faults at %q, want %q", got, want)
	}
}
