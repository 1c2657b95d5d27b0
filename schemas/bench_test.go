package schemas

import (
	"fmt"
	"strings"
	"testing"
)

// largeFlow is the YAML of a flow of n nodes in a row.
func largeFlow(n int) []byte {
	var b strings.Builder
	b.WriteString("handle: large\nname: A large flow\nflowType: AUTHENTICATION\nnodes:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: n%d\n    use: prompt\n    with:\n", i)
		b.WriteString("      inputs: [{identifier: username, type: TEXT_INPUT, label: Username or email, required: true}]\n")
		b.WriteString("      actions: [{ref: continue, label: Continue}]\n")
		fmt.Fprintf(&b, "    next: {continue: n%d}\n", i+1)
	}
	return []byte(b.String())
}

func BenchmarkParseFlow(b *testing.B) {
	for _, n := range []int{10, 1000} {
		text := largeFlow(n)
		d, _ := ParseYAML(text)
		b.Run(fmt.Sprintf("yaml/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, _, problems := ParseFlow(text, true); len(problems) > 0 {
					b.Fatal(problems)
				}
			}
		})
		b.Run(fmt.Sprintf("json/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, _, problems := ParseFlow(d.JSON(), false); len(problems) > 0 {
					b.Fatal(problems)
				}
			}
		})
	}
}

func BenchmarkMustSchema(b *testing.B) {
	text := string(FlowSchema().Raw())
	for b.Loop() {
		MustSchema("flow", text)
	}
}
