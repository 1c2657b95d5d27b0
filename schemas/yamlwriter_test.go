package schemas

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

func TestToYAML(t *testing.T) {
	const text = `{"name":"Sign in","list":[{"a":1,"b":[]},{"c":{}}],"words":["yes","no","null","~","1","2024-01-01","0x1F","1e3","","- x","a: b","#"],
		"lines":"one\ntwo\n","float":1.5,"big":9007199254740993,"on":true,"none":null,"\u003cb\u003e":"é\u0000\u2028"}`
	want := `name: Sign in
list:
  - a: 1
    b: []
  - c: {}
words:
  - "yes"
  - "no"
  - "null"
  - "~"
  - "1"
  - "2024-01-01"
  - "0x1F"
  - "1e3"
  - ""
  - '- x'
  - 'a: b'
  - '#'
lines: |
  one
  two
float: 1.5
big: 9007199254740993
"on": true
none: null
<b>: "é\0\L"
`
	got, err := ToYAML(json.RawMessage(text))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := ToYAML(json.RawMessage(`{"a":`)); err == nil {
		t.Error("half an object was written")
	}
}

// What is written is read again as it was.
func FuzzToYAML(f *testing.F) {
	for _, text := range []string{`{"a":"b"}`, `["x\ny","\ty\n z"," \n","\n","a\n\n","a \nb","|\n","%\n",""]`, `{"<<":1,"=":2,"y":"n","?":"- a"}`, `"…\u0085\ufeff\u2029"`,
		`[1,-0,1.50,1e5,1E-7,20000000000000000000]`, `{"a":{"b":[[],[{}]]}}`, `"2001-12-14t21:59:43.10-05:00"`, `{"a: b":"c # d","*a":"&b","!t":"@x"}`, `null`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, problems := ParseJSON(text)
		if len(problems) > 0 {
			return
		}
		written, err := ToYAML(d.JSON())
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, problems := ParseYAML(written)
		if len(problems) > 0 {
			t.Fatalf("%s\n%s\n%v", text, written, problems)
		}
		if was, is := canonical(t, d.JSON()), canonical(t, again.JSON()); !bytes.Equal(was, is) {
			t.Fatalf("%s\n%s\n%s", was, written, is)
		}
	})
}

func canonical(t *testing.T, text []byte) []byte {
	var v any
	datatest.Unmarshal(t, text, &v)
	return datatest.Marshal(t, v)
}
