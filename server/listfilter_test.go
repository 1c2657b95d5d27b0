package server

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseFilter(t *testing.T) {
	for text, want := range map[string]string{
		`username eq "ada"`:           "username eq ada",
		` username  EQ   "ada" `:      "username eq ada",
		`name eq "a \"b\" \u00e9\\ "`: `name eq a "b" é\ `,
		`name eq ""`:                  "name eq ",
		`name eq "eq"`:                "name eq eq",
		`name eq "😀"`:                 "name eq 😀",
		``:                            "! start",
		`"name" eq "x"`:               "! start",
		`username Sw "ad%_"`:          "username sw ad%_",
		`name co "x"`:                 "name co x",
		`eq "x"`:                      "! no operator",
		`name`:                        "! no operator",
		`name "x" "y"`:                "! no operator",
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
		`name eq "\ud800"`:            "name eq \ufffd", // as in bodies
		`name eq "\x"`:                "! double quotes",
		"name eq \"\xff\"":            "! double quotes",
		"name eq \"a\nb\"":            "! double quotes",
	} {
		c, fault := parseFilter(text)
		if says, wrong := strings.CutPrefix(want, "! "); wrong {
			if !strings.Contains(fault, says) || c != (condition{}) {
				t.Errorf("%s: got %q, fault %q, want one with %q", text, c, fault, says)
			}
		} else if fault != "" || c.member+" "+c.operator+" "+c.value != want {
			t.Errorf("%s: got %q, fault %q", text, c, fault)
		}
	}
}

// What is read can be written so that it reads the same, as links do.
func FuzzFilter(f *testing.F) {
	for _, text := range []string{`username eq "ada"`, ` a EQ "\u0000\"\\"`, `a eq "b" or c eq "d"`, `eq eq "eq"`, "a\teq \"\"", `a eq "\ud83d\ude00"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, fault := parseFilter(text)
		if fault != "" {
			return
		}
		if c.member == "" || c.operator == "" || !utf8.ValidString(c.value) {
			t.Fatalf("%q: %q", text, c)
		}
		if again, fault := parseFilter(c.text()); again != c || fault != "" {
			t.Fatalf("%q: %q, then %q %s", text, c, again, fault)
		}
	})
}
