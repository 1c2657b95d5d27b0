package password

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

var ada = &schemas.User{Attributes: map[string]any{
	"username": "ada.lovelace", "email": "countess.ada@example.org", "given_name": "Augusta", "family_name": "Lovelace",
	"employee": "Analyst-4711", "verified": true,
}}

// audited are the passwords that the security audit of November 2026 set through the API
// (finding 13).
var audited = []string{
	"password1", "admin1234", "12345678a", "letmein123", "P@ssw0rd123", "charlie99", "michelle1", "starwars1",
	"qwerty123", "iloveyou1", "welcome1", "football1", "sunshine1", "dragon123", "monkey123",
}

func TestAudit13CommonPasswordsAreRefusedAtAnyLength(t *testing.T) {
	for _, password := range audited {
		for _, long := range []string{password, password + password, password + "2026"} {
			fault := Policy{}.Check(Choice{Password: long, User: ada, Minimum: FactorMinimum})
			if !strings.Contains(fault, "easy to guess") {
				t.Errorf("%q with a second factor: %q", long, fault)
			}
		}
		if fault := (Policy{}).Check(Choice{Password: password, User: ada}); !strings.Contains(fault, "at least 15") {
			t.Errorf("%q alone: %q", password, fault)
		}
	}
}

func TestCheck(t *testing.T) {
	const common = "easy to guess"
	for password, want := range map[string]string{
		"":                                  "required",
		"seven77":                           "at least 8",
		"éîéüéùé":                           "at least 8",
		strings.Repeat("long ", 26):         "at most 128",
		"nul\x00in the middle":              "not valid text",
		"not \xff UTF-8 in the middle":      "not valid text",
		"Ada.Lovelace":                      common,
		"ada.lovelace1815":                  common,
		"countess.ada@example.org":          common,
		"Augusta Lovelace":                  common,
		"augustalovelace":                   common,
		"my Ada.Lovelace":                   common,
		"analyst4711":                       common,
		"Lunch-Menu-Lunch-Menu":             common, // contains the name of the application
		"Example Corporation 2026":          common, // contains the name of the server
		"administrator123":                  common,
		"Password123!Password123!":          common,
		"p@ssw0rdp@ssw0rd":                  common,
		"qwertyuiopasdfghjkl":               common,
		"1qaz2wsx3edc4rfv":                  common,
		"aaaaaaaaaaaaaaaaaaaa":              common,
		"abcabcabcabcabcabc":                common,
		"12345678901234567890":              common,
		"zyxwvutsrqponmlkj":                 common,
		"Summer2026Summer2026":              common,
		"correcthorsebatterystaple":         common,
		"Correct-Horse-Battery-Staple":      common,
		"to be or not to be":                common,
		"x7!kq92z":                          "",
		"quiet harbour lantern":             "",
		"Tarn-ferry-slate-41":               "",
		"пароль длинный очень":              "",
		"RZJ2KQ5LOWXV3PDY7NABCDEFGH":        "",
		strings.Repeat("quiet harbour ", 9): "",
	} {
		c := Choice{Password: password, User: ada, Application: "Lunch menu", Minimum: FactorMinimum}
		got := Policy{Service: "Example Corporation"}.Check(c)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", password, got, want)
		}
	}
}

func TestCheckMinimum(t *testing.T) {
	for _, test := range []struct{ policy, asked, want int }{
		{0, 0, 15},   // default
		{20, 0, 20},  // configured minimum
		{20, 16, 20}, // a flow cannot require less than the configured minimum
		{0, 30, 30},  // a flow can require more
		{20, 8, 8},   // a flow with a proven second factor can require less
		{0, 3, 8},    // but never less than 8
		{8, 0, 8},
	} {
		if got := (Policy{Minimum: test.policy}).minimum(test.asked); got != test.want {
			t.Errorf("policy %d, flow %d: %d, want %d", test.policy, test.asked, got, test.want)
		}
	}
}

// TestCheckNormalises counts characters after normalization, as sign-in compares them.
func TestCheckNormalises(t *testing.T) {
	decomposed := strings.Repeat("e\u0301", 14)
	if fault := (Policy{}).Check(Choice{Password: decomposed}); !strings.Contains(fault, "at least 15") {
		t.Errorf("14 characters of two code points each: %q", fault)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("password1", "ada")
	f.Add("quiet harbour lantern", "")
	f.Add("\xff", "\x00")
	f.Fuzz(func(t *testing.T, password, name string) {
		user := &schemas.User{Attributes: map[string]any{"username": name}}
		if len(password) < FactorMinimum && (Policy{}).Check(Choice{Password: password, User: user, Minimum: FactorMinimum}) == "" {
			t.Errorf("%q is shorter than %d and accepted", password, FactorMinimum)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	for name, password := range map[string]string{
		"usual": "quiet harbour lantern", "longest": strings.Repeat("a", Maximum), "longest words": strings.Repeat("password", Maximum/8),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Policy{}.Check(Choice{Password: password, User: ada})
			}
		})
	}
}
