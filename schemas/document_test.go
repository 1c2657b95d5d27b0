package schemas

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

func TestParseYAMLValues(t *testing.T) {
	tests := []struct{ yaml, json string }{
		{"a: 1", `{"a":1}`},
		{"a: -0.5e3", `{"a":-0.5e3}`},
		{"a: 12345678901234567890123", `{"a":12345678901234567890123}`},
		{"a: 2026-01-31", `{"a":"2026-01-31"}`},
		{"a: 2026-01-31T12:00:00Z", `{"a":"2026-01-31T12:00:00Z"}`},
		{"2026-01-31: a", `{"2026-01-31":"a"}`},
		{"a: 12:30", `{"a":"12:30"}`},
		{"a: yes\nb: no\nc: on", `{"a":"yes","b":"no","c":"on"}`},
		{"a: True\nb: FALSE", `{"a":true,"b":false}`},
		{"a:\nb: ~\nc: null", `{"a":null,"b":null,"c":null}`},
		{`"1": "2"`, `{"1":"2"}`},
		{"'<<': x", `{"<<":"x"}`},
		{"a: '1e999'", `{"a":"1e999"}`},
		{"a: |\n  one\n  two\n", `{"a":"one\ntwo\n"}`},
		{"a: >-\n  one\n  two\n", `{"a":"one two"}`},
		{"a: \"\\u00e9\\t<\"", "{\"a\":\"\u00e9\\t\\u003c\"}"},
		{"- a\n- [b, {c: d}]", `["a",["b",{"c":"d"}]]`},
		{"\ufeffa: 1", `{"a":1}`},
		{"--- # one document\na: 1\n...\n", `{"a":1}`},
		{"z: 1\na: 2", `{"z":1,"a":2}`},
		{"just text", `"just text"`},
	}
	for _, test := range tests {
		d, problems := ParseYAML([]byte(test.yaml))
		if len(problems) > 0 {
			t.Errorf("%q: %v", test.yaml, problems)
		} else if string(d.JSON()) != test.json {
			t.Errorf("%q: got %s, expected %s", test.yaml, d.JSON(), test.json)
		}
	}
}

// TestEscapes reads escapes as encoding/json does, which reads the same text
// again later.
func TestEscapes(t *testing.T) {
	for _, text := range []string{
		`\"\\\/\b\f\n\r\t`, `\u00e9\u00E9\u0000`, `a\u0062c`, `\ud83d\ude00`, `\ud83d`, `\ude00`, `\ud83d\u0041`,
		`\ud83d\ud83d\ude00`, `\ud83dx`, `\ud83d\n`, `\\u0041`, `é\\`, `\ud83dude00`, `\ud83dude00x`,
	} {
		var want string
		datatest.Unmarshal(t, []byte(`"`+text+`"`), &want)
		d, problems := ParseJSON([]byte(`"` + text + `"`))
		if len(problems) > 0 || d.root.text != want {
			t.Errorf("%s: got %+v and %v, expected %q", text, d, problems, want)
		}
	}
	for _, text := range []string{`\x`, `\u`, `\u00e`, `\u00g0`, `\u+0e9`, `\ud83d\u00g0`, `\U0041`, `\u 041`} {
		if _, problems := ParseJSON([]byte(`"` + text + `"`)); len(problems) != 1 {
			t.Errorf("%s: got %v, expected one problem", text, problems)
		}
	}
}

// TestAliasBombIsCheap would not end if aliases were expanded.
func TestAliasBombIsCheap(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x]\n")
	for i := 1; i < 100; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	_, problems := ParseYAML([]byte(b.String()))
	if len(problems) != maxProblems || !strings.HasSuffix(problems[maxProblems-1].Message, "(and 50 more problems)") {
		t.Errorf("expected the anchor of each of 100 lines to be refused, got %v", problems)
	}
}

func TestNesting(t *testing.T) {
	for name, parse := range map[string]func([]byte) (*Document, []Problem){"yaml": ParseYAML, "json": ParseJSON} {
		if _, problems := parse([]byte(strings.Repeat("[", 100) + strings.Repeat("]", 100))); len(problems) > 0 {
			t.Errorf("%s: 100 levels are refused: %v", name, problems)
		}
		for _, n := range []int{101, 9000, 1 << 20} {
			if _, problems := parse([]byte(strings.Repeat("[", n) + strings.Repeat("]", n))); len(problems) != 1 {
				t.Errorf("%s: %d levels: got %d problems, expected 1", name, n, len(problems))
			} else if want := "nested deeper than 100 levels"; problems[0].Message != want {
				t.Errorf("%s: %d levels: got %s, expected %s", name, n, problems[0].Message, want)
			}
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	_, problems := ParseYAML([]byte(strings.Repeat("a: 1\n", 5000)))
	if len(problems) != maxProblems {
		t.Fatalf("got %d problems, expected %d", len(problems), maxProblems)
	}
	if last := problems[maxProblems-1].Message; !strings.HasSuffix(last, "(and 4949 more problems)") {
		t.Errorf("the last problem does not tell how many more there are: %s", last)
	}
}

func TestLocate(t *testing.T) {
	d, problems := ParseYAML([]byte(`nodes:
  - id: a
    next: {found: b, "a b": c}
    with:
      inputs: [{type: T}]
`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	tests := []struct {
		problem      Problem
		line, column int
	}{
		{Problem{Path: ""}, 1, 1},
		{Problem{Path: "nodes[0].next.found"}, 3, 19},
		{Problem{Path: "nodes[0].next.found"}.OnName(), 3, 12},
		{Problem{Path: "nodes[0].next.found", Message: "unknown member \"found\""}, 3, 12},
		{Problem{Path: `nodes[0].next["a b"]`}, 3, 29},
		{Problem{Path: `nodes[0].next["a b"]`}.OnName(), 3, 22},
		{Problem{Path: "nodes[0].next.a b"}, 3, 29},
		{Problem{Path: "nodes[0].use"}, 2, 5},
		{Problem{Path: "nodes[0].use"}.OnName(), 2, 5},
		{Problem{Path: "nodes[0].with.inputs[0].type"}, 5, 23},
		{Problem{Path: "nodes[0].with.inputs[7].type"}, 5, 15},
		{Problem{Path: "nodes[0].with.inputs[x"}, 5, 15},
		{Problem{Path: "nodes[0]..x"}, 2, 5},
		{Problem{Path: "nodes[-1]"}, 2, 3},
		{Problem{Path: "nodes[0].id", Line: 7, Column: 7}, 7, 7},
	}
	for _, test := range tests {
		got := d.Locate([]Problem{test.problem})[0]
		if got.Line != test.line || got.Column != test.column {
			t.Errorf("%q: got %d:%d, expected %d:%d", test.problem.Path, got.Line, got.Column, test.line, test.column)
		}
	}
}

func TestLocateSortsByPlace(t *testing.T) {
	d, _ := ParseJSON([]byte("{\"a\": 1,\n \"b\": 2, \"c\": 3}"))
	located := d.Locate([]Problem{{Path: "c"}, {Path: "b"}, {Path: "a"}, {Path: "d"}})
	var order []string
	for _, p := range located {
		order = append(order, p.Path)
	}
	if want := []string{"d", "a", "b", "c"}; !slices.Equal(order, want) {
		t.Errorf("got %v, expected %v", order, want)
	}
}

func TestDecode(t *testing.T) {
	schema := MustSchema("test", `{"type": "object", "properties": {"name": {"type": "string"}, "extra": true}}`)
	var into struct {
		Name string `json:"name"`
	}
	d, _ := ParseYAML([]byte("name: A\nextra: 1\n"))
	want := []Problem{{Path: "extra", Message: `unknown member "extra"; known: name`, Line: 2, Column: 1, onKey: true}}
	if got := d.Decode(schema, &into); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, expected %v", got, want)
	}
	if into.Name != "" {
		t.Error("something was decoded in spite of a problem")
	}
	d, _ = ParseYAML([]byte("name: A\n"))
	if problems := d.Decode(schema, &into); len(problems) > 0 || into.Name != "A" {
		t.Errorf("got %q and %v", into.Name, problems)
	}
}

func TestParseFlow(t *testing.T) {
	text := []byte("handle: a-b\nname: A\nflowType: REGISTRATION\nnodes:\n  - {id: a, use: b, with: {x: 1}, next: {ok: end}}\n  - {id: c, use: d, next: end}\n")
	flow, d, problems := ParseFlow(text, true)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := &Flow{Handle: "a-b", Name: "A", FlowType: Registration, Nodes: []Node{
		{ID: "a", Use: "b", With: json.RawMessage(`{"x":1}`), Next: Next{By: map[string]string{"ok": "end"}}},
		{ID: "c", Use: "d", Next: Next{To: "end"}},
	}}
	if !reflect.DeepEqual(flow, want) {
		t.Errorf("got %+v, expected %+v", flow, want)
	}
	again, _, problems := ParseFlow(d.JSON(), false)
	if len(problems) > 0 || !reflect.DeepEqual(again, want) {
		t.Errorf("as JSON: got %+v and %v", again, problems)
	}
}

// TestDecodeLoosely decodes the valid members of a document.
func TestDecodeLoosely(t *testing.T) {
	tests := []struct {
		text       string
		want       Group
		checkLines int
	}{
		{`{"name": "A", "ouId": "u"}`, Group{Name: "A", OUID: "u"}, 0},
		{`{"name": 1, "ouId": "u"}`, Group{OUID: "u"}, 1},
		{`{"name": "A", "ouid": "u", "colour": 1}`, Group{Name: "A", OUID: "u"}, 2},
		{`{"nmae": "A"}`, Group{Name: "A"}, 1},
		{`{"nmae": "A", "name": "B"}`, Group{Name: "B"}, 1},
		{`{"ouId": "u", "members": [{"type": "user", "id": "x"}, 5]}`, Group{OUID: "u"}, 2},
		{`[]`, Group{}, 1},
	}
	for _, test := range tests {
		d, problems := ParseJSON([]byte(test.text))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var got Group
		problems = d.DecodeLoosely(GroupSchema(), &got)
		got.Members = nil // how much of an invalid list is decoded is undefined
		if len(problems) != test.checkLines || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v and %v, expected %+v and %d problems", test.text, got, problems, test.want, test.checkLines)
		}
	}
}
