package schemas

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/postern-id/postern/internal/datatest"
)

// allocated returns how many bytes do allocates.
func allocated(do func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// filled is a text of about size bytes: before, items of the list in it, after.
func filled(size int, before string, item func(i int) string, after string) string {
	var b strings.Builder
	b.WriteString(before)
	for i := 0; ; i++ {
		next := item(i)
		if i > 0 {
			next = ", " + next
		}
		if b.Len()+len(next)+len(after) > size {
			return b.String() + after
		}
		b.WriteString(next)
	}
}

func always(item string) func(int) string { return func(int) string { return item } }

// costly returns the bodies an attacker would send: each is small for what it
// makes a careless reader do. They are JSON, which is YAML as well.
func costly(size int) map[string]string {
	const deep = 90
	name := strings.Repeat("n", size/2/deep)
	below := strings.Repeat(`{"`+name+`": `, deep-1)
	odd := strings.Repeat(`{"`+strings.Repeat(`\u2028`, size/2/deep/6)+`": `, deep-1)
	numbered := func(i int) string { return fmt.Sprintf(`"k%d": 0`, i) }
	nest := strings.Repeat("[", 90) + strings.Repeat("]", 90)
	return map[string]string{
		"deep duplicates":        filled(size, below+"{", always(`"a": 0`), "}"+strings.Repeat("}", deep-1)),
		"deep odd names":         filled(size, odd+"{", always(`"a": 0`), "}"+strings.Repeat("}", deep-1)),
		"unknown members":        filled(size, "{", numbered, "}"),
		"unknown members below":  filled(size, `{"children": [`, always(`{"x": 0}`), "]}"),
		"wrong members":          filled(size, `{"texts": {`, numbered, "}}"),
		"wrong items":            filled(size, `{"children": [`, always("0"), "]}"),
		"wrong numbers":          filled(size, `{"pair": [`, always("0.5"), "]}"),
		"nameless members":       filled(size, "{", always(`"": 0`), "}"),
		"one name":               `{"` + strings.Repeat("n", size-10) + `": 0}`,
		"one odd name":           `{"` + strings.Repeat("é", size/2-10) + `": 0}`,
		"one name, wrong member": `{"texts": {"` + strings.Repeat("n", size-20) + `": 0}}`,
		"one name twice":         `{"` + strings.Repeat("n", size/2-10) + `": 0, "` + strings.Repeat("n", size/2-10) + `": 0}`,
		"open lists":             strings.Repeat("[", size),
		"deep lists":             filled(size, `{"x": 0, "raw": [`, always(nest), "]}"),
		"short lists":            filled(size, `{"x": 0, "raw": [`, always("[]"), "]}"),
		"one long string":        `{"id": "` + strings.Repeat(`\u00e9\n`, size/9) + `", "x": 0}`,
		"escapes":                filled(size, `{"x": 0, "raw": [`, always(`"\n"`), "]}"),
		"members of two letters": filled(size, `{"x": 0, "raw": [`, always(`{"ab": {}}`), "]}"),
	}
}

// within fails the test if a reader of the bodies allocates more than 50 bytes
// for each byte, beyond what own says a library takes for itself, if the cost
// is more than linear, or if the problems are many or long.
func within(t *testing.T, read func(body []byte) []Problem, own func(body []byte)) {
	t.Helper()
	if testing.Short() {
		t.Skip("long, and in one goroutine")
	}
	const small, large = 64 << 10, 256 << 10
	const factor, longest = 50, 64 << 10
	larger := costly(large)
	for name, body := range costly(small) {
		var spent [2]int
		for i, body := range []string{body, larger[name]} {
			var problems []Problem
			spent[i] = allocated(func() { problems = read([]byte(body)) })
			for range 2 { // buffers that a collection took from a pool are allocated again
				spent[i] = min(spent[i], allocated(func() { read([]byte(body)) }))
			}
			limit := factor * len(body)
			if own != nil {
				limit += allocated(func() { own([]byte(body)) })
			}
			if spent[i] > limit {
				t.Errorf("%s: %d bytes took %d bytes, expected at most %d", name, len(body), spent[i], limit)
			}
			reply := datatest.Marshal(t, problems)
			if len(problems) == 0 || len(problems) > 50 || len(reply) > longest {
				t.Errorf("%s: %d bytes have %d problems of %d bytes", name, len(body), len(problems), len(reply))
			}
		}
		if spent[1] > 8*spent[0] { // quadratic costs would be sixteen times
			t.Errorf("%s: four times the text takes %d bytes after %d", name, spent[1], spent[0])
		}
	}
}

func TestCostOfDecode(t *testing.T) {
	within(t, func(body []byte) []Problem {
		return strict(body, new(strictBody))
	}, nil)
}

// TestCostOfYAML leaves out what the YAML library takes for its own tree, some
// eighty bytes for a byte, and twice: it is asked again where an error stands.
func TestCostOfYAML(t *testing.T) {
	anything := MustSchema("anything", "{}")
	within(t, func(body []byte) []Problem {
		d, problems := ParseYAML(body)
		if len(problems) == 0 {
			problems = d.Decode(anything, new(strictBody))
		}
		return problems
	}, func(body []byte) {
		for range 2 {
			_ = yaml.Unmarshal(body, new(yaml.Node))
		}
	})
}

// TestCostOfCheck leaves out what the schema validator takes, which words all
// that is wrong before it returns.
func TestCostOfCheck(t *testing.T) {
	s := MustSchema("body", `{"type": "object", "additionalProperties": false, "properties": {
		"id": {"type": "string"},
		"children": {"items": {"type": "object", "additionalProperties": false}},
		"texts": {"additionalProperties": {"type": "string"}},
		"pair": {"items": {"type": "integer"}},
		"raw": true}}`)
	within(t, func(body []byte) []Problem { return s.Check(body) }, func(body []byte) {
		if d, problems := ParseJSON(body); len(problems) == 0 {
			_ = s.compiled().Validate(d.root.plain())
		}
	})
}

func TestLongNamesAreShortened(t *testing.T) {
	long := strings.Repeat("é", 65)
	want := `["` + strings.Repeat("é", 64) + `…"]`
	if got := MemberPath("", long); got != want {
		t.Errorf("got %s, expected %s", got, want)
	}
	if got := MemberPath("", long[2:]); got != `["`+long[2:]+`"]` {
		t.Errorf("a name of 64 characters became %s", got)
	}
	p := strict([]byte("{\"id\": \"a\",\n \""+long+"\": 0}"), new(strictBody))[0]
	if p.Path != want || p.Line != 2 || p.Column != 2 {
		t.Errorf("got %v", p)
	}
	if strings.Contains(p.String(), long) {
		t.Errorf("the whole name is in %v", p)
	}
}

func TestLongPathsAreCut(t *testing.T) {
	text := strings.Repeat(`{"`+strings.Repeat("n", 60)+`": `, 50) + `{"a": 0, "a": 0}` + strings.Repeat("}", 50)
	_, problems := ParseJSON([]byte(text))
	if len(problems) != 1 || len(problems[0].Path) > 1000 || !strings.HasSuffix(problems[0].Path, "…") || !utf8.ValidString(problems[0].Path) {
		t.Errorf("got %v", problems)
	}
}
