package flows_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/studio"
	"github.com/postern-id/postern/internal/datatest"
)

var edits = flag.Int("edits", 1000, "the number of edits that TestStudioAgreesWhileTyping makes")

// A studio, which remembers much of the text before, returns at each edit the findings that the server
// returns, and proves what a studio proves that sees the text for the first time.
func TestStudioAgreesWhileTyping(t *testing.T) {
	texts, random := goodTexts(t), rand.New(rand.NewPCG(3, 4))
	subflows := flows.NewSubflowResolver().ForFile("testdata/good/typed.yaml") // its folder has sub-flows
	newStudio := func() *studio.Studio { return studio.NewForFile(serverKinds, subflows, nil) }
	s, valid := newStudio(), 0
	for made := 0; made < *edits; {
		text := texts[random.IntN(len(texts))]
		for step, before := 0, ""; step < 20 && made < *edits; step, made = step+1, made+1 {
			switch { // an author takes back most of what breaks a flow
			case before != "" && random.IntN(3) > 0:
				text, before = before, ""
			case step > 0:
				before, text = text, slip(text, random)
			}
			source := studio.Source{Text: text}
			want := onServer(t, source, subflows)
			if got := string(s.Call("check", datatest.Marshal(t, source))); got != want {
				t.Fatalf("while typing it finds\n%s\nthe server finds\n%s\nin\n%s", got, want, text)
			}
			got, want := string(s.Call("prove", datatest.Marshal(t, source))), string(newStudio().Call("prove", datatest.Marshal(t, source)))
			if got != want {
				t.Fatalf("while typing it proves\n%s\na new studio proves\n%s\nof\n%s", got, want, text)
			}
			if r, err := s.Check(source); err == nil && r.Valid {
				valid++
			}
		}
	}
	t.Logf("%d edits, %d valid", *edits, valid)
	if valid < *edits/10 || valid > *edits*9/10 {
		t.Errorf("of %d texts %d are valid", *edits, valid)
	}
}
