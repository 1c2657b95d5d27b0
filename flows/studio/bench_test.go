package studio

import (
	"fmt"
	"strings"
	"testing"
)

// largeFlow returns a flow of n nodes, most of them prompts with a way back.
func largeFlow(n int) string {
	var b strings.Builder
	b.WriteString("handle: large\nname: Large\nflowType: AUTHENTICATION\nnodes:\n")
	for i := range n - 2 {
		next := fmt.Sprintf("ask%d", i+1)
		if i == n-3 {
			next = "key"
		}
		fmt.Fprintf(&b, `  - id: ask%d
    use: prompt
    with:
      title: Question %d
      inputs: [{identifier: answer%d, type: TEXT_INPUT, label: Answer, required: true}]
      actions: [{ref: continue, label: Continue}, {ref: back, label: Back}]
    next: {continue: %s, back: ask%d}
`, i, i, i, next, max(0, i-7))
	}
	b.WriteString("  - {id: key, use: passkey-authenticate, with: {mode: usernameless}, next: done}\n  - {id: done, use: authorization-code}\n")
	return b.String()
}

// BenchmarkCheck200Nodes measures the check after a keystroke in the title of a node.
func BenchmarkCheck200Nodes(b *testing.B) {
	s, text := New(), largeFlow(200)
	for i := 0; b.Loop(); i++ {
		changed := strings.Replace(text, "Question 100", fmt.Sprintf("Question %d", i), 1)
		if r, err := s.Check(Source{Text: changed}); err != nil || !r.Valid {
			b.Fatal(r, err)
		}
	}
}
