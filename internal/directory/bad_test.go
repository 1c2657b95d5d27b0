package directory

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

var update = flag.Bool("update", false, "write the answers to bad bodies into testdata; review the diff")

// leastBodies is the minimum number of bad bodies per noun.
const leastBodies = 30

// Each file of testdata is a table for the noun it is named after. A body is followed by
// the answer, indented: the code and every problem. A name after $ stands for an id of the
// fixtures.
func TestBadBodies(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.bad"))
	must(t, err)
	for _, file := range files {
		noun := strings.TrimSuffix(filepath.Base(file), ".bad")
		t.Run(noun, func(t *testing.T) { testBadBodies(t, file, noun) })
	}
}

func testBadBodies(t *testing.T, file, noun string) {
	h := furnished(t, newFixture(t))
	r := h.resource(t, noun)
	own := h.ownResource(t, r)
	text, err := os.ReadFile(file)
	must(t, err)
	cases := badBodies(string(text))
	if len(cases) < leastBodies {
		t.Errorf("%d bodies, expected at least %d", len(cases), leastBodies)
	}
	before := h.state(t)
	for i, c := range cases {
		d := doc(t, h.spell(c.body))
		_, err := r.Create(t.Context(), SystemCall(), d)
		reported := h.unspell(answer(err))
		if *update {
			cases[i].answer = reported
		} else if reported != c.answer {
			t.Errorf("%s\ngot\n%swant\n%s", c.body, reported, c.answer)
		}
		if _, err := r.Replace(t.Context(), SystemCall(), own.ID, "", d); err == nil || len(schemas.AsError(err).Errors) == 0 {
			t.Errorf("%s in the place of another: got %v", c.body, err)
		}
	}
	if after := h.state(t); !maps.Equal(before, after) {
		t.Errorf("something was left behind: %v became %v", before, after)
	}
	if still, err := r.Get(t.Context(), SystemCall(), own.ID); err != nil || still.ETag != own.ETag {
		t.Errorf("what was not to be replaced has changed: %v", err)
	}
	if *update {
		must(t, os.WriteFile(file, []byte(writeBad(cases)), 0o644))
	}
}

// ownResource adds a resource that the bad bodies do not use.
func (h *accessFixture) ownResource(t *testing.T, r Resource) *Item {
	t.Helper()
	body := `{"handle": "own", "name": "Own"}`
	switch r.Noun().Name {
	case "application", "group", "role":
		body = `{"name": "Own"}`
	case "identityProvider":
		body = corp(t, "handle", "own")
	case "flow":
		body = `{"handle": "own", "name": "Own", "flowType": "AUTHENTICATION", "nodes": ` + passkeyNodes + `}`
	}
	item, err := r.Create(t.Context(), SystemCall(), doc(t, body))
	must(t, err)
	return item
}

func (h *accessFixture) resource(t testing.TB, plural string) Resource {
	t.Helper()
	for _, r := range h.Resources() {
		if r.Noun().Plural == plural {
			return r
		}
	}
	t.Fatalf("there are no %s", plural)
	return nil
}

// spell replaces the names of fixtures by ids, unspell ids by names.
func (h *accessFixture) spell(text string) string   { return h.translate(text, false) }
func (h *accessFixture) unspell(text string) string { return h.translate(text, true) }

func (h *accessFixture) translate(text string, back bool) string {
	var pairs []string
	for name, id := range h.ids {
		if back {
			pairs = append(pairs, id, "$"+name)
		} else {
			pairs = append(pairs, "$"+name, id)
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// answer formats an error as the tables do.
func answer(err error) string {
	if err == nil {
		return "\tnothing is wrong\n"
	}
	e := schemas.AsError(err)
	var b strings.Builder
	b.WriteString("\t" + e.Code + "\n")
	for _, p := range e.Errors {
		p.Line = 0
		b.WriteString("\t" + p.String() + "\n")
	}
	return b.String()
}

// badBody is a body with the comment before it and the answer after it.
type badBody struct{ comment, body, answer string }

func badBodies(text string) (cases []badBody) {
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var c badBody
		for line := range strings.Lines(block + "\n") {
			switch {
			case line[0] == '#':
				c.comment += line
			case line[0] == '\t':
				c.answer += line
			default:
				c.body += strings.TrimSpace(line)
			}
		}
		cases = append(cases, c)
	}
	return cases
}

func writeBad(cases []badBody) string {
	var blocks []string
	for _, c := range cases {
		blocks = append(blocks, c.comment+c.body+"\n"+c.answer)
	}
	return strings.Join(blocks, "\n")
}
