package schemas

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/postern-id/postern/internal/datatest"
)

// seed adds the faulty texts and a few that are fine.
func seed(f *testing.F) {
	for _, faulty := range faults(f) {
		f.Add([]byte(faulty.text)[:min(len(faulty.text), 300)])
	}
	for _, text := range []string{`{"a": [1, -2.5e3, true, null, "\u00e9\n"]}`, `["\ud83d\ude00\ud83d\u0041\udc00\/\"\\"]`, `[01]`, `{"a": 1.}`, `"\u12"`, `"\x"`, `"\`, "\"a\x01\"", `[1,]`, `truex`, "a: 1\nb: [x, {c: d}]\n", "a: |\n  x\n# end\n", "? [a]\n: b", "&a [*a]", "\ufeff- x"} {
		f.Add([]byte(text))
	}
	f.Add(largeFlow(2))
}

// holds checks what must be so of every result of a parser.
func holds(t *testing.T, d *Document, problems []Problem) {
	t.Helper()
	if (d == nil) == (len(problems) == 0) {
		t.Fatalf("document %v with problems %v", d, problems)
	}
	for _, p := range problems {
		if p.Line < 1 || p.Column < 1 || p.Message == "" || !utf8.ValidString(p.String()) {
			t.Errorf("a problem without place or words: %+v", p)
		}
	}
	if d == nil {
		return
	}
	var value any
	if err := json.Unmarshal(d.JSON(), &value); err != nil {
		t.Fatalf("not JSON: %v: %s", err, d.JSON())
	}
	again, problems := ParseJSON(d.JSON())
	if len(problems) > 0 {
		t.Fatalf("its JSON is refused: %v: %s", problems, d.JSON())
	}
	checkPosition(t, again.root, nil, again.root)
}

// checkPosition follows the path of every value back to the value.
func checkPosition(t *testing.T, root *element, at valuePath, e *element) {
	t.Helper()
	path := at.String()
	if found, _ := root.find(path); found.value != e && !strings.Contains(path, ellipsis) {
		t.Fatalf("%s leads elsewhere", path)
	}
	for i, item := range e.items {
		checkPosition(t, root, at.item(i), item)
	}
	for _, m := range e.members() {
		checkPosition(t, root, at.member(m.name), m.value)
	}
}

func FuzzParseYAML(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		d, problems := ParseYAML(data)
		holds(t, d, problems)
	})
}

func FuzzParseJSON(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		d, problems := ParseJSON(data)
		holds(t, d, problems)
		if d != nil && !json.Valid(data) {
			t.Errorf("accepted, but encoding/json refuses it: %q", data)
		}
		if d != nil && !sameMeaning(d.root.appendJSON(nil), data) {
			t.Errorf("read as %s: %q", d.root.appendJSON(nil), data)
		}
		if d == nil && json.Valid(data) && !refusedOnPurpose(problems) {
			t.Errorf("refused, but encoding/json accepts it: %q: %v", data, problems)
		}
	})
}

func TestIsNumber(t *testing.T) {
	for _, text := range []string{"", "-", "0", "-0", "00", "01", "-01", "10", "1.", "1.0", ".5", "1.e1", "1e", "1e+", "1e+1", "1E-01", "0e0", "1e1.5", "+1", "1-2", "--1", "1.2.3", "0x1", "1_0"} {
		if got, want := isNumber(text), json.Valid([]byte(text)); got != want {
			t.Errorf("%q: %t, encoding/json %t", text, got, want)
		}
	}
}

// sameMeaning reports whether encoding/json reads the same from two texts.
func sameMeaning(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// refusedOnPurpose reports whether a text may be refused that is JSON by the
// grammar.
func refusedOnPurpose(problems []Problem) bool {
	for _, p := range problems {
		for _, reason := range []string{"is given twice", "nested deeper", "not valid UTF-8", "out of range", "at most 100 characters", "name is empty"} {
			if strings.Contains(p.Message, reason) {
				return true
			}
		}
	}
	return false
}

func FuzzParseFlow(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, yaml := range []bool{false, true} {
			flow, d, problems := ParseFlow(data, yaml)
			if (flow == nil) == (len(problems) == 0) || (flow != nil && d == nil) {
				t.Fatalf("flow %v, document %v, problems %v", flow, d, problems)
			}
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 {
					t.Errorf("a problem without place: %+v", p)
				}
			}
			if flow == nil {
				continue
			}
			text := datatest.Marshal(t, flow)
			if _, _, problems := ParseFlow(text, false); len(problems) > 0 {
				t.Errorf("what was accepted is refused when written again: %s: %v", text, problems)
			}
		}
	})
}

// FuzzCheck applies schemas from outside to values from outside.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"anyOf": [{"type": "string"}, {"required": ["a"]}]}`), []byte(`{"b": 1}`))
	f.Add([]byte(`{"oneOf": [{"const": 1}, {"enum": [2, "x"]}], "unevaluatedProperties": false}`), []byte(`{"b": [1]}`))
	f.Add([]byte(FlowSchema().Raw()), []byte(`{"nodes": [{"id": "end"}]}`))
	f.Add([]byte(`{"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#"}, "uniqueItems": true}}}`), []byte(`[[], [[]], []]`))
	f.Add([]byte(`{"properties": {"a/b": {"not": {}}}, "propertyNames": {"pattern": "^a"}, "dependentRequired": {"a": ["b"]}}`), []byte(`{"a/b": 1, "a": 2, "c": 3}`))
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		s, err := CompileSchema("fuzz", schema)
		if err != nil {
			return
		}
		for _, p := range s.Check(value) {
			if p.Message == "" || p.Line != 0 || p.Column != 0 {
				t.Errorf("%+v", p)
			}
		}
	})
}
