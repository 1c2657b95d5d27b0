package main

import (
	"slices"
	"testing"

	"github.com/alecthomas/kong"
)

// Each command that removes what cannot be restored has the flags of a confirmation. Members of groups and
// assignments of roles can be added again, and a user whose session has ended can sign in again.
func TestDestructiveCommandsHaveAConfirmation(t *testing.T) {
	parser, err := newParser(new(commands))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, leaf := range parser.Model.Leaves(true) {
		if !slices.Contains([]string{"delete", "remove-passkey", "rotate-secret"}, leaf.Name) {
			continue
		}
		found++
		if !slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == "yes" }) {
			t.Errorf("%s does not ask", leaf.FullPath())
		}
	}
	if found < 11 {
		t.Errorf("%d destructive commands", found)
	}
}
