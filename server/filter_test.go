package server

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseFilter(t *testing.T) {
	for text, want := range map[string]string{
		`username eq "ada"`:           "username=ada",
		` username  EQ   "ada" `:      "username=ada",
		`name eq "a \"b\" \u00e9\\ "`: `name=a "b" é\ `,
		`name eq ""`:                  "name=",
		`name eq "eq"`:                "name=eq",
		`name eq "😀"`:                 "name=😀",
		``:                            "! start",
		`"name" eq "x"`:               "! start",
		`eq "x"`:                      "! only operator",
		`name`:                        "! only operator",
		`name co "x"`:                 "! only operator is eq, not \"co\"",
		`name ne "x"`:                 "! only operator",
		`name="x"`:                    "! start",
		`name eq`:                     "! double quotes",
		`name eq x`:                   "! double quotes",
		`name eq 'x'`:                 "! double quotes",
		`name eq 7`:                   "! double quotes",
		`name eq null`:                "! double quotes",
		`name eq ["x"]`:               "! double quotes",
		`name eq "x`:                  "! double quotes",
		`name eq "x" and a eq "y"`:    "! nothing after it",
		`name eq "x" "y"`:             "! nothing after it",
		`name eq "\ud800"`:            "name=\ufffd", // as in bodies
		`name eq "\x"`:                "! double quotes",
		"name eq \"\xff\"":            "! double quotes",
		"name eq \"a\nb\"":            "! double quotes",
	} {
		member, value, fault := parseFilter(text)
		if says, wrong := strings.CutPrefix(want, "! "); wrong {
			if !strings.Contains(fault, says) || member != "" || value != "" {
				t.Errorf("%s: got %q %q, fault %q, want one with %q", text, member, value, fault, says)
			}
		} else if fault != "" || member+"="+value != want {
			t.Errorf("%s: got %q %q, fault %q", text, member, value, fault)
		}
	}
}

// What is read can be written so that it reads the same, as links do.
func FuzzFilter(f *testing.F) {
	for _, text := range []string{`username eq "ada"`, ` a EQ "\u0000\"\\"`, `a eq "b" or c eq "d"`, `eq eq "eq"`, "a\teq \"\"", `a eq "\ud83d\ude00"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		member, value, fault := parseFilter(text)
		if fault != "" {
			return
		}
		if member == "" || !utf8.ValidString(value) {
			t.Fatalf("%q: member %q, value %q", text, member, value)
		}
		m, v, fault := parseFilter(filterText(member, value))
		if m != member || v != value || fault != "" {
			t.Fatalf("%q: %q %q, then %q %q %s", text, member, value, m, v, fault)
		}
	})
}
