package schemas

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestIdentifierKey(t *testing.T) {
	for want, spellings := range map[string][]string{
		"ada":             {"ada", "ADA", " Ada\t", "ＡＤＡ", "𝐚𝐝𝐚", "𝔄𝔡𝔞", "ⓐⓓⓐ", "ᴬᵈᵃ"},
		"ada@example.org": {"Ada@Example.ORG", "ada@ｅxample.org", "ada＠example.org", "ada@𝐞xample.org"},
		"zoë":             {"zoë", "ZOË", "Zoe\u0308"},
		"ann smith":       {"Ann Smith", "ANN\u00a0SMITH"},
		"σίσυφοσ":         {"ΣΊΣΥΦΟΣ", "σίσυφοσ"},
		"k":               {"K", "\u212a"},
		"": {"", " \t", "a\x00b", "\xff", strings.Repeat("a", MaxIdentifierBytes+1), strings.Repeat("ä", MaxIdentifierBytes/2+1),
			strings.Repeat("ﷺ", MaxIdentifierBytes/3)},
		strings.Repeat("a", MaxIdentifierBytes): {strings.Repeat("A", MaxIdentifierBytes)},
	} {
		for _, spelling := range spellings {
			if got := IdentifierKey(spelling); got != want {
				t.Errorf("%.30q has the key %.30q, expected %.30q", spelling, got, want)
			}
		}
	}
	for _, other := range []string{"аda", "ad a", "ad", "adá", "ada\u200b", "ada."} {
		if IdentifierKey(other) == "ada" {
			t.Errorf("%q counts as ada", other)
		}
	}
}

func TestCheckIdentifierAccepts(t *testing.T) {
	for attribute, values := range map[string][]string{
		"username": {"ada", " ada ", "Ada.Lovelace-1_2", "ada@example.org", "ann%", "ЧЕХОВ", "Чехов1", "ΣΊΣΥΦΟΣ", "zoë", "Zoe\u0308",
			"ＡＤＡ", "日本", "にほん", "日本Tom", "علي", "д", "5", strings.Repeat("a", MaxIdentifierBytes)},
		"email": {"ada@example.org", "Ada.Lovelace+x@Mail.Example.ORG", "иван@example.com", "ada@почта.рф", "o'hara@localhost", "用户@example.com"},
		"phone": {"+1 (555) 010"},
	} {
		for _, value := range values {
			if wrong := CheckIdentifier(attribute, value); wrong != "" {
				t.Errorf("%s %.40q: %s", attribute, value, wrong)
			}
			if IdentifierKey(value) == "" {
				t.Errorf("%s %.40q is accepted but has no key", attribute, value)
			}
		}
	}
}

func TestCheckIdentifierRefuses(t *testing.T) {
	const noUsername, noAddress, mixed = "A username may contain", "not an e-mail address", "This mixes"
	tests := []struct{ attribute, value, want string }{
		{"username", "", "empty"},
		{"username", " \t", "empty"},
		{"username", "\xff", "UTF-8"},
		{"username", strings.Repeat("a", MaxIdentifierBytes+1), "too long"},
		{"username", strings.Repeat("é", MaxIdentifierBytes/2+1), "too long"},
		{"email", strings.Repeat("ﷺ", MaxIdentifierBytes/3), "too long. Written in plain letters"},

		{"username", "a\x00b", "(U+0000)"},
		{"username", "a\nb", "(U+000A)"},
		{"username", "ada\u200b", "(U+200B)"},       // zero width space
		{"username", "a\u200dda", "(U+200D)"},       // joiner
		{"username", "a\u00adda", "(U+00AD)"},       // soft hyphen
		{"username", "\u202eada", "(U+202E)"},       // right-to-left override
		{"username", "\u2066ada\u2069", "(U+2066)"}, // isolate
		{"username", "ada\ufe0f", "(U+FE0F)"},       // variation selector
		{"username", "ada\U000e0100", "(U+E0100)"},  // variation selector
		{"username", "ada\U000e0061", "(U+E0061)"},  // tag
		{"username", "ada\u180b", "(U+180B)"},       // Mongolian variation selector
		{"username", "ada\u3164", "(U+3164)"},       // Hangul filler
		{"username", "a\u034fda", "(U+034F)"},       // grapheme joiner
		{"username", "ada\u2800", "(U+2800)"},       // Braille blank
		{"username", "ada\ufeff", "(U+FEFF)"},       // byte order mark
		{"username", "ada\ue000", "(U+E000)"},       // private use
		{"email", "ada\u200b@example.org", "(U+200B)"},
		{"email", "ada@exa\u2060mple.org", "(U+2060)"},

		{"username", "Ann Smith", noUsername},
		{"username", "𝐚𝐝𝐚", noUsername},
		{"username", "ⓐⓓⓐ", noUsername},
		{"username", "ada😀", noUsername},
		{"username", "ﬁ", noUsername},
		{"username", "аda", mixed + " Cyrillic and Latin"}, // begins with a Cyrillic а
		{"username", "adа", mixed + " Latin and Cyrillic"},
		{"username", "αda", mixed},
		{"username", "adaօ", mixed},
		{"username", "ᎪᎠada", mixed},
		{"username", "аdmin@corp.example", mixed},

		{"email", "ada", noAddress},
		{"email", "ada@", noAddress},
		{"email", "@example.org", noAddress},
		{"email", "a da@example.org", noAddress},
		{"email", "Ada <ada@example.org>", noAddress},
		{"email", "<ada@example.org>", noAddress},
		{"email", "ada@example.org (Ada)", noAddress},
		{"email", `"a b"@example.org`, noAddress},
		{"email", "ada@example.org, eve@example.org", noAddress},
		{"email", "аda@corp.example", mixed},
		{"email", "ada@cоrp.example", mixed},
	}
	for _, test := range tests {
		if got := CheckIdentifier(test.attribute, test.value); !strings.Contains(got, test.want) {
			t.Errorf("%s %.40q: got %q, expected %q", test.attribute, test.value, got, test.want)
		}
	}
}

func TestCheckIdentifiers(t *testing.T) {
	u := User{Attributes: map[string]any{"username": "a b", "email": "x", "name": "\u200b"}}
	var paths []string
	for _, p := range u.CheckIdentifiers() {
		paths = append(paths, p.Path)
	}
	if want := []string{"username", "email"}; !slices.Equal(paths, want) {
		t.Errorf("got %v, expected %v", paths, want)
	}
	u.Attributes = map[string]any{"username": "", "email": 5}
	if got := u.CheckIdentifiers(); len(got) > 0 {
		t.Errorf("who has no identifiers has %v", got)
	}
}

// FuzzIdentifier checks what uniqueness rests on: a key is its own key and can
// be kept, and whatever may become an identifier has one.
func FuzzIdentifier(f *testing.F) {
	for _, seed := range []string{"ann", " Ann Smith ", "ＡＮＮ", "Zoe\u0308", "İ", "ΑΣ Σ", "a\x00", "\xff", "\u212a", "ǅ x", "ﷺ", "ada@example.org", "\u0345", "𝐚", "ϓ\u0301"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key := IdentifierKey(value)
		if len(key) > MaxIdentifierBytes || !utf8.ValidString(key) || strings.Contains(key, "\x00") {
			t.Fatalf("%q has the key %q, which cannot be kept", value, key)
		}
		if again := IdentifierKey(key); again != key {
			t.Fatalf("%q has the key %q, and that has the key %q", value, key, again)
		}
		for _, attribute := range IdentifyingAttributes() {
			if CheckIdentifier(attribute, value) == "" && key == "" {
				t.Errorf("%s %q is accepted but has no key", attribute, value)
			}
		}
	})
}

func BenchmarkIdentifierKey(b *testing.B) {
	for _, value := range []string{"Ada@Example.ORG", "Zoë"} {
		b.Run(value, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				IdentifierKey(value)
			}
		})
	}
}
