package schemas

import (
	"strings"
	"testing"
)

func TestSuggest(t *testing.T) {
	known := []string{"name", "handle", "flowType", "nodes", "passkey-authenticate", "password-authenticate", "id", "ok"}
	tests := map[string]string{
		"nmae":                   "name", // a swap is one slip
		"nam":                    "name",
		"names":                  "name",
		"Name":                   "name",
		"flow_type":              "flowType",
		"flowtype":               "flowType",
		"hadnel":                 "handle",
		"node":                   "nodes",
		"passkey-authentcate":    "passkey-authenticate",
		"pasword-authenticate":   "password-authenticate",
		"passkeyAuthenticate":    "passkey-authenticate",
		"ID":                     "id",
		"ik":                     "", // two letters have no slip to spare
		"":                       "",
		"version":                "",
		"name":                   "", // the word itself is no suggestion
		strings.Repeat("x", 1e6): "",
	}
	for word, want := range tests {
		if got := Suggest(word, known); got != want {
			t.Errorf("%.30q: got %q, expected %q", word, got, want)
		}
	}
}

func TestSuggestTakesTheNearest(t *testing.T) {
	if got := Suggest("succes", []string{"access", "successor", "success"}); got != "success" {
		t.Errorf("got %q", got)
	}
	if got := Suggest("cat", []string{"bat", "hat"}); got != "bat" {
		t.Errorf("of equals the first should win, got %q", got)
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1},
		{"abc", "abd", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"größe", "grösse", 2},
	}
	for _, test := range tests {
		if got := distance([]rune(test.a), []rune(test.b)); got != test.want {
			t.Errorf("%q, %q: got %d, expected %d", test.a, test.b, got, test.want)
		}
	}
}

func TestPaths(t *testing.T) {
	tests := []struct{ got, want string }{
		{JoinPath("nodes[0].with", "inputs[1]"), "nodes[0].with.inputs[1]"},
		{JoinPath("nodes[0]", ""), "nodes[0]"},
		{JoinPath("", "nodes[0]"), "nodes[0]"},
		{JoinPath("", ""), ""},
		{JoinPath("nodes", "[0].id"), "nodes[0].id"},
		{JoinPath("next", `["a b"]`), `next["a b"]`},
		{MemberPath("next", "found"), "next.found"},
		{MemberPath("", "found"), "found"},
		{MemberPath("next", "a b"), `next["a b"]`},
		{MemberPath("next", "a.b"), `next["a.b"]`},
		{MemberPath("next", `"]`), `next["\"]"]`},
		{MemberPath("", "größe"), `["größe"]`},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("got %s, expected %s", test.got, test.want)
		}
	}
}
