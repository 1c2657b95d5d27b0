package chains_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// withCopies returns all kinds, and each a second time under another name.
func withCopies() engine.Kinds {
	kinds := nodes.Kinds(nodes.Deps{})
	for name, kind := range maps.Clone(kinds) {
		second := *kind
		second.Name = copyOf(name)
		kinds[second.Name] = &second
	}
	return kinds
}

func copyOf(kind string) string { return "another-" + kind }

// usingCopies replaces each kind of a flow in YAML by its copy.
func usingCopies(body string) string { return strings.ReplaceAll(body, "use: ", "use: "+copyOf("")) }

// The analysis reads what a kind declares. A copy of a kind under another name opens the same ways, whether the
// change uses the kind or its copy.
func TestCopiesOfKinds(t *testing.T) {
	c := &chains.Checker{Kinds: withCopies()}
	strong := parsed(t, "strong", strongKey)
	for _, l := range launderings() {
		if l.account || l.manages {
			continue // they need no kind
		}
		body, waivers, _ := strings.Cut(l.flow, "\nwaive:")
		if waivers != "" {
			waivers = "waive:" + waivers + "\n"
		}
		text := waivers + "nodes:" + body + "\n"
		known := newWays(t, c, strong, text)
		if copied := newWays(t, c, strong, usingCopies(text)); !slices.Equal(known, copied) {
			t.Errorf("%s opens\n%s\nand with copies of its kinds\n%s", l.name, strings.Join(known, "\n"), strings.Join(copied, "\n"))
		}
	}
	for name, body := range goodFlows {
		known := newWays(t, c, strong, "nodes:"+body+"\n")
		if copied := newWays(t, c, strong, "nodes:"+usingCopies(body)+"\n"); !slices.Equal(known, copied) {
			t.Errorf("%s opens\n%s\nand with copies of its kinds\n%s", name, strings.Join(known, "\n"), strings.Join(copied, "\n"))
		}
	}
	if opened := newWays(t, c, strong, "nodes:"+usingCopies(sequence("email-otp"))+"\n"); len(opened) != 1 {
		t.Errorf("a copy of email-otp opens %v, expected one way", opened)
	}
}

// newWays returns what opens if an application that asks for a passkey gets the flow instead.
func newWays(t *testing.T, c *chains.Checker, before *schemas.Flow, text string) (messages []string) {
	t.Helper()
	flows := map[string]*schemas.Flow{"strong": before, "weak": parsed(t, "weak", text)}
	opened, err := c.NewWays(t.Context(), signIns(flows, started("shop", "strong")), signIns(flows, started("shop", "weak")))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range opened {
		messages = append(messages, p.Message)
	}
	return messages
}
