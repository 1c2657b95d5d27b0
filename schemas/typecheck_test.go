package schemas

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type strictBody struct {
	ID       string            `json:"id"`
	Count    int8              `json:"count,omitempty"`
	Size     uint              `json:"size"`
	Rate     float64           `json:"rate"`
	On       bool              `json:"on"`
	At       *time.Time        `json:"at"`
	Key      Bytes             `json:"key"`
	Next     Next              `json:"next"`
	Raw      json.RawMessage   `json:"raw"`
	Any      map[string]any    `json:"any"`
	Texts    map[string]string `json:"texts"`
	Children []strictBody      `json:"children"`
	Pair     [2]int            `json:"pair"`
	Secret   string            `json:"-"`
	Untagged string
	strictPart
	hidden string
}

type strictPart struct {
	Part string `json:"part"`
}

// strict decodes a text without a schema.
func strict(text []byte, into any) []Problem {
	d, problems := ParseJSON(text)
	if len(problems) > 0 {
		return problems
	}
	return d.Decode(nil, into)
}

func TestStrictAccepts(t *testing.T) {
	const text = `{"id": "a", "count": -128, "size": 1, "rate": 1.5, "on": true, "at": "2026-01-31T12:00:00Z", "key": "AQI",
		"next": {"ok": "b"}, "raw": {"x": [1]}, "any": {"y": {"z": 1}}, "texts": {"a b": "c"},
		"children": [{"id": "b"}], "pair": [1, 2], "Untagged": "u", "part": "p"}`
	var body strictBody
	if problems := strict([]byte(text), &body); len(problems) > 0 {
		t.Fatal(problems)
	}
	if body.Count != -128 || body.Key.String() != "AQI" || body.Next.By["ok"] != "b" || body.Part != "p" ||
		body.Children[0].ID != "b" || body.hidden != "" || string(body.Raw) != `{"x": [1]}` {
		t.Errorf("got %+v", body)
	}
	var any any
	if problems := strict([]byte(`[1]`), &any); len(problems) > 0 {
		t.Error(problems)
	}
}

// A member that is null is absent, also for a schema; an item of a list may not be null.
func TestNull(t *testing.T) {
	const absent = `{"id": null, "count": null, "children": null, "at": null, "key": null, "next": null, "raw": null, "texts": {"a": null}, "pair": null, "part": null}`
	body := strictBody{}
	if problems := strict([]byte(absent), &body); len(problems) > 0 || !reflect.DeepEqual(body, strictBody{Texts: map[string]string{}}) {
		t.Errorf("got %+v and %v", body, problems)
	}
	for text, want := range map[string]string{
		`{"children": [{"id": "b"}, null]}`: "1:28: children[1]: expected a value, got null",
		`{"pair": [null, 1]}`:               "1:11: pair[0]: expected a value, got null",
		`{"di": null}`:                      `1:2: di: unknown member "di"; known: ` + strictNames,
		`null`:                              "1:1: expected a value, got null",
	} {
		if problems := strict([]byte(text), &body); len(problems) != 1 || problems[0].String() != want {
			t.Errorf("%s: got %v, expected %s", text, problems, want)
		}
	}
	group := Group{}
	for text, want := range map[string]string{
		`{"name": "A", "ouId": null, "description": null, "members": null}`: "",
		`{"name": null}`:                   `1:10: name: required member "name" is missing`,
		`{"name": "A", "members": [null]}`: "1:27: members[0]: expected an object, got null",
	} {
		d, _ := ParseJSON([]byte(text))
		problems := d.Decode(GroupSchema(), &group)
		if want == "" && len(problems) > 0 || want != "" && (len(problems) != 1 || !strings.HasPrefix(problems[0].String(), want)) {
			t.Errorf("%s: got %v, expected %s", text, problems, want)
		}
	}
	for _, yaml := range []bool{false, true} {
		flow, _, problems := ParseFlow([]byte(`{"handle": "a", "name": "A", "flowType": "AUTHENTICATION", "waive": null,
			"nodes": [{"id": "a", "use": "b", "with": {"x": null, "y": 1}, "next": {"ok": "end", "no": null}}]}`), yaml)
		if len(problems) > 0 || string(flow.Nodes[0].With) != `{"y":1}` || len(flow.Nodes[0].Next.By) != 1 {
			t.Errorf("got %+v and %v", flow, problems)
		}
	}
}

// strictNames are the members of a strictBody, as a message lists them.
const strictNames = "id, count, size, rate, on, at, key, next, raw, any, texts, children, pair, Untagged, part"

func TestStrictRefuses(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{`{"di": "a", "children": [{"ide": 1, "children": [{"texst": {}}]}], "x": 1}`, []string{
			`1:2: di: unknown member "di"; known: id, count, size, rate, on, at, key, next, raw, any, texts, children, pair, Untagged, part`,
			`1:27: children[0].ide: unknown member "ide"; did you mean "id"?`,
			`1:51: children[0].children[0].texst: unknown member "texst"; did you mean "texts"?`,
			`1:68: x: unknown member "x"; known: id, count, size, rate, on, at, key, next, raw, any, texts, children, pair, Untagged, part`,
		}},
		// encoding/json would take any spelling in another letter case, and with
		// two of them the last one.
		{`{"ID": "a"}`, []string{`1:2: ID: unknown member "ID"; did you mean "id"?`}},
		{`{"Secret": "a"}`, []string{`1:2: Secret: unknown member "Secret"; known: id, count, size, rate, on, at, key, next, raw, any, texts, children, pair, Untagged, part`}},
		{"{\"id\": 1,\n\"on\": \"yes\",\n\"children\": {}}", []string{
			"1:8: id: expected a string, got a number", "2:7: on: expected true or false, got a string", "3:13: children: expected a list, got an object"}},
		{`{"children": [null, {"id": null}]}`, []string{"1:15: children[0]: expected a value, got null"}},
		{`{"count": 128}`, []string{"1:11: count: expected a whole number of at most 8 bits, got 128"}},
		{`{"count": 1.5}`, []string{"1:11: count: expected a whole number of at most 8 bits, got 1.5"}},
		{`{"size": -1}`, []string{"1:10: size: expected a whole number from 0 of at most 64 bits, got -1"}},
		{`{"size": "1"}`, []string{"1:10: size: expected a whole number, got a string"}},
		{`{"rate": []}`, []string{"1:10: rate: expected a number, got a list"}},
		{`{"at": "today"}`, []string{"1:8: at: expected a time such as 2026-01-31T12:00:00Z (RFC 3339)"}},
		{`{"at": 5}`, []string{"1:8: at: expected a time such as 2026-01-31T12:00:00Z (RFC 3339)"}},
		{`{"next": 5}`, []string{"1:10: next: expected a node id or an object {outcome: node id}, got 5"}},
		{`{"texts": {"a": 1, "b": "x"}}`, []string{"1:17: texts.a: expected a string, got a number"}},
		{`{"pair": [1, "2"]}`, []string{"1:14: pair[1]: expected a whole number, got a string"}},
		{`[]`, []string{"1:1: expected an object, got a list"}},
		{`null`, []string{"1:1: expected a value, got null"}},
		{``, []string{"1:1: expected a value, got the end of the text"}},
		{`{} {}`, []string{"1:4: expected the end of the text after the first value, got {"}},
		{`{"id": "a", "id": "b"}`, []string{`1:13: id: "id" is given twice, first on line 1; remove one`}},
	}
	for _, test := range tests {
		body := strictBody{ID: "before"}
		var got []string
		for _, p := range strict([]byte(test.text), &body) {
			got = append(got, p.String())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s\n got %q\nwant %q", test.text, got, test.want)
		}
		if body.ID != "before" {
			t.Errorf("%s: something was decoded in spite of a problem", test.text)
		}
	}
}

func TestStrictNeedsAPointer(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("expected a panic")
		}
	}()
	_ = strict([]byte(`{}`), strictBody{})
}
