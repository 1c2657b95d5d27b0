package schemas

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func yamlDocument(t *testing.T, text string) *Document {
	t.Helper()
	d, problems := ParseYAML([]byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return d
}

const partText = `groups:
  - name: staff
    members: [{type: user, id: ada}, {type: user, id: bob}]
  - name: others
`

func TestPartsHavePositions(t *testing.T) {
	d := yamlDocument(t, partText)
	if got := d.Members(); !slices.Equal(got, []string{"groups"}) {
		t.Errorf("members %q", got)
	}
	if d.At("groups[2]") != nil || d.At("group") != nil || d.At("groups[0].name.x") != nil || d.At("..") != nil {
		t.Error("there is something where nothing is")
	}
	items, ok := d.At("groups").Items()
	if !ok || len(items) != 2 {
		t.Fatalf("%d items, %v", len(items), ok)
	}
	if _, ok := items[0].Items(); ok {
		t.Error("an object is taken for a list")
	}
	if got := string(items[1].JSON()); got != `{"name":"others"}` {
		t.Errorf("the second is %s", got)
	}
	p := items[0].Locate([]Problem{{Path: "members[1].id", Message: "unknown"}})[0]
	if p.Line != 3 || p.Column != 55 {
		t.Errorf("the place is %d:%d", p.Line, p.Column)
	}
	name, ok := items[0].At("name").Text()
	if !ok || name != "staff" {
		t.Errorf("the name is %q, %v", name, ok)
	}
	if _, ok := items[0].Text(); ok {
		t.Error("an object is taken for a text")
	}
}

func TestEdited(t *testing.T) {
	tests := []struct {
		name  string
		edits map[string]any
		want  string
	}{
		{"nothing", nil, `{"a":"x","list":[{"id":"1"},{"id":"2"}],"in":{"b":true}}`},
		{"values", map[string]any{"a": "y", "list[1].id": "two"}, `{"a":"y","list":[{"id":"1"},{"id":"two"}],"in":{"b":true}}`},
		{"several in one list", map[string]any{"list[0].id": "one", "list[1].id": "two"}, `{"a":"x","list":[{"id":"one"},{"id":"two"}],"in":{"b":true}}`},
		{"another shape", map[string]any{"a": json.RawMessage(`{"c": [1]}`)}, `{"a":{"c":[1]},"list":[{"id":"1"},{"id":"2"}],"in":{"b":true}}`},
		{"gone", map[string]any{"list": nil, "in.b": nil}, `{"a":"x","in":{}}`},
		{"added", map[string]any{"z": 1, "in.c": []string{"d"}}, `{"a":"x","list":[{"id":"1"},{"id":"2"}],"in":{"b":true,"c":["d"]},"z":1}`},
		{"nowhere", map[string]any{"a.b": "y", "list[2].id": "3", "q.r": "s", "list[0]x": nil, "nothing": nil}, `{"a":"x","list":[{"id":"1"},{"id":"2"}],"in":{"b":true}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := yamlDocument(t, "a: x\nlist: [{id: '1'}, {id: '2'}]\nin: {b: true}\n")
			before := string(d.JSON())
			if got := string(d.Edited(tt.edits).JSON()); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if string(part(d.root).JSON()) != before {
				t.Error("the original has changed")
			}
		})
	}
}

// Objects with many members have an index, which must not be shared.
func TestEditedObjectWithManyMembers(t *testing.T) {
	var text strings.Builder
	for c := 'a'; c <= 'z'; c++ {
		text.WriteString(string(c) + ": 1\n")
	}
	d := yamlDocument(t, text.String())
	edited := d.Edited(map[string]any{"b": nil, "aa": 2})
	if d.At("b") == nil || d.At("aa") != nil || edited.At("b") != nil || edited.At("aa") == nil || len(edited.Members()) != 26 {
		t.Errorf("%s\n%s", d.JSON(), edited.JSON())
	}
	if p := edited.Locate([]Problem{{Path: "z"}, {Path: "aa"}}); p[1].Line != 26 || p[0].Line != 1 {
		t.Errorf("places %+v", p)
	}
}
