package passkey_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// TestOriginUnderRelyingParty runs complete ceremonies from one origin while others are
// allowed too, and checks whether the origin may use the RP ID.
func TestOriginUnderRelyingParty(t *testing.T) {
	const ok = "" // no step rejects it
	for _, test := range []struct {
		allowed string // in addition to https://example.com and https://xn--bcher-kva.example
		rpID    string
		from    string
		step    passkey.Step
	}{
		{"", "example.com", "https://example.com", ok},
		{"https://login.example.com", "example.com", "https://login.example.com", ok},
		{"https://a.b.example.com", "example.com", "https://a.b.example.com", ok},
		{"https://a.b.example.com", "b.example.com", "https://a.b.example.com", ok},
		{"https://login.example.com:8443", "example.com", "https://login.example.com:8443", ok},
		{"https://login.example.com:8443", "example.com", "https://login.example.com", passkey.StepOrigin},
		{"https://login.example.com", "example.com", "https://login.example.com:8443", passkey.StepOrigin},
		{"https://login.example.com:443", "example.com", "https://login.example.com", ok},
		{"https://LOGIN.example.COM", "example.com", "https://login.example.com", ok},
		{"https://login.example.com", "example.com", "https://LOGIN.example.com", passkey.StepOrigin},
		{"https://login.example.com", "example.com", "https://login.example.com/", passkey.StepOrigin},
		{"https://login.example.com", "example.com", "https://login.example.com/../", passkey.StepOrigin},
		{"https://login.example.com", "example.com", "https://x@login.example.com", passkey.StepOrigin},
		{"https://login.example.com", "example.com", "http://login.example.com", passkey.StepOrigin},
		{"http://login.example.com", "example.com", "http://login.example.com", passkey.StepOrigin},
		// Suffixes that are not parent domains.
		{"https://evil-example.com", "example.com", "https://evil-example.com", passkey.StepOrigin},
		{"https://evilexample.com", "example.com", "https://evilexample.com", passkey.StepOrigin},
		{"https://example.com.evil.com", "example.com", "https://example.com.evil.com", passkey.StepOrigin},
		{"https://example.org", "example.com", "https://example.org", passkey.StepOrigin},
		// An allowed origin above the RP ID is not under it.
		{"https://login.example.com", "login.example.com", "https://example.com", passkey.StepOrigin},
		// A trailing dot makes a different host, and is invalid in an RP ID.
		{"https://example.com.", "example.com", "https://example.com.", passkey.StepOrigin},
		{"", "example.com", "https://example.com.", passkey.StepOrigin},
		// Internationalized names.
		{"", "xn--bcher-kva.example", "https://xn--bcher-kva.example", ok},
		{"", "xn--bcher-kva.example", "https://bücher.example", passkey.StepOrigin},
		// Addresses and localhost.
		{"https://127.0.0.1:8090", "example.com", "https://127.0.0.1:8090", passkey.StepOrigin},
		{"https://[::1]:8090", "example.com", "https://[::1]:8090", passkey.StepOrigin},
		{"http://localhost:5173", "localhost", "http://localhost:5173", ok},
		{"https://localhost:8090", "localhost", "https://localhost:8090", ok},
		{"http://app.localhost http://localhost", "localhost", "http://app.localhost", passkey.StepOrigin},
		{"http://app.localhost", "app.localhost", "http://app.localhost", ok},
		// Not origins.
		{"", "example.com", "null", passkey.StepOrigin},
		{"", "example.com", "", passkey.StepOrigin},
		{"", "example.com", "android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck", passkey.StepOrigin},
	} {
		t.Run(test.rpID+" from "+test.from+" allowing "+test.allowed, func(t *testing.T) {
			c, err := passkey.New(passkey.Config{Origins: []string{"https://example.com", "https://xn--bcher-kva.example"}, Now: func() time.Time { return noon }})
			if err != nil {
				t.Fatal(err)
			}
			options, session, err := c.BeginRegistration(passkey.RegistrationRequest{User: passkey.User{ID: alice}, RPID: test.rpID, Origins: strings.Fields(test.allowed)})
			if err != nil {
				t.Fatal(err)
			}
			answer, err := passkeytest.New().Register(options, test.from)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.FinishRegistration(session, answer, noon)
			if test.step == ok {
				if err != nil {
					t.Errorf("expected it to be accepted, got %v", err)
				}
				return
			}
			mustRefuse(t, err, test.step, test.rpID, "passkey.allowed_origins")
		})
	}
}

// TestAllowedButOutside distinguishes an origin that is allowed, but not for this relying
// party, from one that is not allowed.
func TestAllowedButOutside(t *testing.T) {
	w, _ := registered(t, passkey.Policy{})
	for from, words := range map[string]string{"https://other.example": "cannot use", "https://unknown.example.com": "is not allowed"} {
		options, session := w.beginAuthentication(passkey.AuthenticationRequest{})
		answer, err := w.device.Authenticate(options, from)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.FinishAuthentication(t.Context(), session, answer, w.find, noon)
		mustRefuse(t, err, passkey.StepOrigin, from, rpID, words, "passkey.allowed_origins")
		if log := w.log.String(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, "origin="+from) {
			t.Errorf("logged %q", log)
		}
	}
}

// TestRelyingPartyIDs checks relying party IDs while https://login.example.com (and an
// address, and a plain http origin) are allowed.
func TestRelyingPartyIDs(t *testing.T) {
	c, err := passkey.New(passkey.Config{Origins: []string{site, "https://192.0.2.7", "http://plain.example"}})
	if err != nil {
		t.Fatal(err)
	}
	for rpID, words := range map[string]string{
		"":                           "",
		"login.example.com":          "",
		"example.com":                "",
		"com":                        "must equal",
		"LOGIN.example.com":          "lower case",
		"gin.example.com":            "must equal",
		"evil-example.com":           "must equal",
		"example.com.evil.com":       "must equal",
		"other.login.example.com":    "must equal",
		"login.example.com.":         "empty label",
		".example.com":               "empty label",
		"https://login.example.com":  "scheme",
		"login.example.com:443":      "port",
		"login.example.com/x":        "path",
		"*.example.com":              "must equal",
		"192.0.2.7":                  "IP address",
		"2.7":                        "number",
		"plain.example":              "over https",
		"bücher.example":             "non-ascii",
		strings.Repeat("a.", 200):    "253",
		"localhost":                  "must equal",
		"login.example.com\x00.evil": "invalid control",
	} {
		_, _, err := c.BeginAuthentication(passkey.AuthenticationRequest{RPID: rpID})
		_, _, err2 := c.BeginRegistration(passkey.RegistrationRequest{RPID: rpID, User: passkey.User{ID: alice}})
		if words == "" {
			if err != nil || err2 != nil {
				t.Errorf("%q: expected it to be accepted, got %v and %v", rpID, err, err2)
			}
			continue
		}
		for _, err := range []error{err, err2} {
			if !schemas.HasCode(err, schemas.CodePasskeyConfig) || schemas.AsError(err).Class != schemas.Invalid {
				t.Errorf("%q: expected %s, got %v", rpID, schemas.CodePasskeyConfig, err)
				continue
			}
			for _, word := range []string{words, site, "passkey.allowed_origins"} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q: expected %q in %v", rpID, word, err)
				}
			}
		}
	}
}

// TestApplicationOrigins adds the origins of an application to the configured ones for one
// ceremony.
func TestApplicationOrigins(t *testing.T) {
	w := newFixture(t, passkey.Policy{})
	request := passkey.RegistrationRequest{User: passkey.User{ID: alice}, RPID: "shop.example", Origins: []string{"https://www.shop.example"}}
	options, session := w.beginRegistration(request)
	answer, err := w.device.Register(options, "https://www.shop.example")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.FinishRegistration(session, answer, noon); err != nil {
		t.Error(err)
	}
	request.Origins = nil
	if _, _, err := w.BeginRegistration(request); !schemas.HasCode(err, schemas.CodePasskeyConfig) {
		t.Errorf("expected the origin to be forgotten after its ceremony, got %v", err)
	}
	request.Origins = []string{"https://www.shop.example/login"}
	if _, _, err := w.BeginRegistration(request); err == nil || !strings.Contains(err.Error(), "passkeyAllowedOrigins[0]") {
		t.Errorf("expected the malformed origin to be named, got %v", err)
	}
}

// TestRelatedOrigins lets pages of other sites use the configured relying party ID, and no
// other.
func TestRelatedOrigins(t *testing.T) {
	const related, both = "https://shop.example.net", "https://both.example.net"
	c, err := passkey.New(passkey.Config{Origins: []string{site, both}, Related: []string{related, both, "http://plain.example"}, RPID: "example.com", Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Origins(); !slices.Equal(got, []string{site, related, both}) {
		t.Errorf("browsers receive %v", got)
	}
	for _, test := range []struct {
		rpID, from string
		step       passkey.Step
	}{
		{"", related, ""},
		{"example.com", related, ""},
		{"example.com", both, ""},
		{"login.example.com", related, passkey.StepOrigin},
		{"both.example.net", related, passkey.StepOrigin},
		{"both.example.net", both, ""},
		{"example.com", "https://www.shop.example.net", passkey.StepOrigin},
		{"example.com", "http://plain.example", passkey.StepOrigin},
	} {
		options, session, err := c.BeginRegistration(passkey.RegistrationRequest{User: passkey.User{ID: alice}, RPID: test.rpID})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := passkeytest.New().Register(options, test.from)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.FinishRegistration(session, answer, noon); test.step != "" {
			mustRefuse(t, err, test.step, test.from)
		} else if err != nil {
			t.Errorf("%q from %s: %v", test.rpID, test.from, err)
		}
	}
	if _, _, err := c.BeginRegistration(passkey.RegistrationRequest{User: passkey.User{ID: alice}, RPID: "shop.example.net"}); !schemas.HasCode(err, schemas.CodePasskeyConfig) {
		t.Errorf("a related origin is a relying party of its own: %v", err)
	}
}

// TestConfiguration reports every mistake at once.
func TestConfiguration(t *testing.T) {
	_, err := passkey.New(passkey.Config{
		Origins: []string{"example.com", "https://example.com/", "ftp://example.com", "https://*.example.com", "https://bücher.example", "https://u:p@example.com", "https://example.com?x", "https://ok.example", ""},
		Related: []string{"example.net"},
	})
	var e *schemas.Error
	if !errors.As(err, &e) || e.Code != schemas.CodePasskeyConfig {
		t.Fatalf("expected %s, got %v", schemas.CodePasskeyConfig, err)
	}
	want := []string{
		"passkey.allowed_origins[0]: expected an origin", "[1]: an origin is scheme://host[:port] and nothing else: write https://example.com", "[2]: expected an origin",
		"[3]: origins are compared exactly", "[4]: browsers report the host", "[5]: an origin is", "[6]: an origin is", "[8]: expected an origin",
		"passkey.related_origins[0]: expected an origin",
	}
	for _, words := range want {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("expected %q in\n%v", words, err)
		}
	}
	if len(e.Errors) != len(want) {
		t.Errorf("expected %d problems, got %d:\n%v", len(want), len(e.Errors), err)
	}
	if _, err := passkey.New(passkey.Config{}); err == nil || !strings.Contains(err.Error(), "at least one origin") {
		t.Errorf("expected an origin to be demanded, got %v", err)
	}
}
