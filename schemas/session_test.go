package schemas

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestStartSession(t *testing.T) {
	now := time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
	a := Assertion{Subject: "ada", AMR: []string{"hwk"}, ACR: "phrh", Validity: time.Hour}
	got := a.StartSession("shop", "Firefox\x00", now)
	want := Session{
		ID: got.ID, UserID: "ada", ApplicationID: "shop", AMR: []string{"hwk"}, ACR: "phrh",
		Client: "Firefox", CreatedAt: now, ExpiresAt: now.Add(time.Hour),
	}
	if !reflect.DeepEqual(got, want) || got.ID == "" || a.Session != got.ID {
		t.Errorf("started %+v for %+v, want %+v", got, a, want)
	}
	if again := a.StartSession("shop", "", now); again.ID == got.ID {
		t.Error("two sessions have one id")
	}
}

func TestClientName(t *testing.T) {
	long := strings.Repeat("x", 199)
	for sent, want := range map[string]string{
		"":                                "",
		"Mozilla/5.0 (X11; Linux)":        "Mozilla/5.0 (X11; Linux)",
		"a\r\nSet-Cookie: b":              "aSet-Cookie: b",
		"\x1b[31mred\x07":                 "[31mred",
		"\u202eevil\u200b\u2066":          "evil",
		"\xff\xfeé\xc3":                   "é",
		long + "yz":                       long + "y",
		long + "é":                        long, // cut at a rune, not within one
		long + "éz":                       long,
		strings.Repeat("\x00", 300) + "z": "z",
	} {
		if got := clientName(sent); got != want {
			t.Errorf("%q is kept as %q, want %q", sent, got, want)
		}
	}
}
