package schemas

import (
	"strings"
	"testing"
)

// Tests of finding 18 of the security audit of November 2026.

func TestAudit18OnlyPlainAddressesAreEmail(t *testing.T) {
	for _, good := range []string{
		"ada@example.org", "Ada.Lovelace+x@Mail.Example.ORG", "o'hara@localhost", "a!#$%&'*+-/=?^_`{|}~b@example.com", "иван@example.com",
		"ada@почта.рф", "用户@例子.广告", "ada@xn--e1afmkfd.xn--p1ai", "1@2.example", strings.Repeat("a", 64) + "@" + strings.Repeat("b", 63) + ".example",
	} {
		if !IsEmail(good) {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range []string{
		"", "ada", "@", "ada@", "@example.org", "ada@example.org ", " ada@example.org", "ada@example.org\n", "ada@exam\x00ple.org", "a\u0085da@example.org",
		"ada@[127.0.0.1]", "ada@[IPv6:::1]", "ada@127.0.0.1", "ada@1", `"ada"@example.org`, `"a b"@example.org`, "a b@example.org", "a\u00a0b@example.org",
		"ada(comment)@example.org", "<ada@example.org>", "Ada <ada@example.org>", "ada@example.org,eve@example.org", "ada@@example.org", "ada@eve@example.org",
		".ada@example.org", "ada.@example.org", "a..da@example.org", "ada@.example.org", "ada@example.org.", "ada@example..org", "ada@-example.org", "ada@example-.org",
		"ada@exa_mple.org", "ada@example.org:25", "ada\u200b@example.org", "ada@exam\u202eple.org", "ada@\xff.org",
		strings.Repeat("a", 65) + "@example.org", "ada@" + strings.Repeat("b", 64) + ".example", "ada@" + strings.Repeat("b.", 130) + "example",
	} {
		if IsEmail(bad) {
			t.Errorf("%q is taken for an address", bad)
		}
		if bad != "" && CheckIdentifier("email", bad) == "" {
			t.Errorf("%q may be the address of a user", bad)
		}
	}
}

// User types of one's own have the same addresses, at whatever depth.
func TestAudit18TheFormatsAreThatOfEmail(t *testing.T) {
	for _, format := range []string{"email", "idn-email"} {
		s := MustSchema("t", `{"properties": {"contacts": {"items": {"format": "`+format+`"}}}}`)
		for value, want := range map[string]string{
			"ada@example.org": "", "ada@example.org ": "contacts[0]: expected an e-mail address", "ada@[127.0.0.1]": "contacts[0]: expected an e-mail address",
			`\"ada\"@example.org`: "contacts[0]: expected an e-mail address", "ada": "contacts[0]: expected an e-mail address",
		} {
			got := ""
			for _, p := range s.Check([]byte(`{"contacts": ["` + value + `"]}`)) {
				got += p.String()
			}
			if got != want {
				t.Errorf("%s: %q: %q, want %q", format, value, got, want)
			}
		}
	}
}
