package flows_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// decisions returns the text of a flow with n decisions, each with 100 cases of the expression.
func decisions(n int, when string) string {
	var b strings.Builder
	b.WriteString("handle: x\nname: X\nflowType: AUTHENTICATION\nnodes:\n  - {id: key, use: passkey-authenticate, next: n0}\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: n%d\n    use: decision\n    with:\n      cases:\n%s    next: n%d\n", i,
			strings.Repeat(fmt.Sprintf("        - {when: '%s', outcome: yes-%d}\n", when, i), 100), i+1)
	}
	fmt.Fprintf(&b, "  - {id: n%d, use: authorization-code}\n", n)
	return b.String()
}

// sessions returns the text of a flow with n nodes that accept a session.
func sessions(n int) string {
	var b strings.Builder
	b.WriteString("handle: x\nname: X\nflowType: AUTHENTICATION\nnodes:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {id: s%d, use: session-check, next: {active: done, none: s%d}}\n", i, i+1)
	}
	fmt.Fprintf(&b, "  - {id: s%d, use: passkey-authenticate, next: done}\n  - {id: done, use: authorization-code}\n", n)
	return b.String()
}

// input is a flow that asks for an input with a pattern.
func input(pattern string) string {
	return "handle: x\nname: X\nflowType: AUTHENTICATION\nnodes:\n  - id: ask\n    use: prompt\n    with:\n      inputs:\n" +
		"        - {identifier: a, type: TEXT_INPUT, pattern: '" + pattern + "'}\n      actions: [{ref: go, label: Go}]\n    next: key\n" +
		"  - {id: key, use: passkey-authenticate, next: done}\n  - {id: done, use: authorization-code}\n"
}

// The size of the expressions of a flow is limited, however it is divided.
func TestSizeOfExpressions(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       string // the finding, with its position; "" for none
	}{
		{"many short ones, within", decisions(7, "true"), ""},
		{"many short ones", decisions(8, "true"), "813:18: nodes[8].with.cases[68].when: the expressions"},
		{"a few long ones", decisions(1, strings.Repeat("!", 900)+"true"), "the expressions of the flow and its sub-flows have the size 90400, expected at most 49152"},
		{"many regular expressions", decisions(2, `user.id.matches("a")`), "and 256 for each regular expression"},
		{"members of members", decisions(1, "has(user.attributes"+strings.Repeat(".a", 20)+")"), "it reads a member of a member 21 levels deep, expected at most 20"},
		{"a pattern, within", input("[a-z]{1,1000}"), ""},
		{"a long pattern", input(strings.Repeat("a", 1001)), "the regular expression has 1001 characters, expected at most 1000"},
		{"a pattern that repeats a class", input(`\pL{900}`), "the regular expression repeats too much"},
		{"a pattern that repeats much", input(strings.Repeat("a{1000}", 11)), "the regular expression repeats too much"},
		{"a pattern with many classes", input(strings.Repeat(`\pL`, 21)), "the regular expression has 21 classes of Unicode characters"},
		{"a pattern with a long range without case", input(`(?i)[B-\x{1e942}]`), "the regular expression has the flag i and ranges of 125184 characters, expected at most 30000"},
		{"a pattern with a range after a class", input(`(?i)[\w--\x{10ffff}]`), "the regular expression has the flag i and ranges of 1114066 characters"},
		{"a pattern with short ranges without case", input(`(?i)^[à-ÿа-яё\x{370}-\x{3ff}-]+$`), ""},
		{"nodes that accept sessions, within", sessions(20), ""},
		{"nodes that accept sessions", sessions(21), "have 21 nodes that accept an earlier sign-in, expected at most 20"},
	} {
		t.Run(test.name, func(t *testing.T) {
			flow, _, problems := engine.Check([]byte(test.text), true, nodes.Kinds(nodes.Deps{}))
			var texts []string
			for _, p := range problems {
				if !p.Warning {
					texts = append(texts, p.String())
				}
			}
			said := strings.Join(texts, "\n")
			switch {
			case test.want == "" && flow == nil, test.want != "" && (flow != nil || !strings.Contains(said, test.want)):
				t.Errorf("got %.1000s\nwant %q", said, test.want)
			case test.want != "" && problems[0].Line == 0:
				t.Errorf("the finding has no position: %v", problems[0])
			}
		})
	}
}

// A flow that a version without the limits stored still runs, if it exceeds the total size with a warning.
func TestSizeOfStoredExpressions(t *testing.T) {
	for text, want := range map[string]string{
		decisions(8, "true"):             "have the size 51200",
		input(strings.Repeat("a", 1001)): "",
		input(`\pL{900}`):                "",
		sessions(21):                     "",
	} {
		flow, problems := schemas.ParseYAML([]byte(text))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		f, problems := schemas.ReadFlow(flow)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		graph, problems := engine.CompileStored(f, nodes.Kinds(nodes.Deps{}))
		var said string
		for _, p := range problems {
			said += p.Message
			if !p.Warning {
				graph = nil
			}
		}
		if graph == nil || !strings.Contains(said, want) || (want == "" && said != "") {
			t.Errorf("%.200s: %v, %.500s", text, graph != nil, said)
		}
	}
}
