package oauth_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// hostileChallenges are changes of an authorization request that must not get one (RFC
// 7636 §4.3, RFC 9700 §2.1.1).
func hostileChallenges() map[string][]string {
	good := s256(verifier)
	challenge := func(text string) []string { return []string{"code_challenge", text} }
	return map[string][]string{
		"none":                    {"code_challenge", "", "code_challenge_method", ""},
		"a method alone":          challenge(""),
		"no method, so plain":     {"code_challenge_method", ""},
		"plain":                   {"code_challenge_method", "plain"},
		"plain, with a verifier":  {"code_challenge_method", "plain", "code_challenge", verifier},
		"the method in small":     {"code_challenge_method", "s256"},
		"a method with a space":   {"code_challenge_method", "S256 "},
		"two methods":             {"code_challenge_method", "S256 plain"},
		"S512":                    {"code_challenge_method", "S512"},
		"none as a method":        {"code_challenge_method", "none"},
		"a verifier as challenge": challenge(verifier),
		"too short":               challenge(good[:42]),
		"too long":                challenge(good + "A"),
		"padded":                  challenge(good + "="),
		"a space after":           challenge(good + " "),
		"a line end in it":        challenge(good[:20] + "\n" + good[20:]),
		"hexadecimal":             challenge(hex.EncodeToString([]byte(good)[:32])),
		"standard base64":         challenge(strings.Repeat("+/", 21) + "A"),
		"not canonical":           challenge(good[:42] + "B"),
		"NUL":                     challenge(good[:42] + "\x00"),
		"of 128 letters":          challenge(strings.Repeat("A", 128)),
		"empty, as base64":        challenge("AA"),
	}
}

// hostileVerifiers must not redeem the code of a challenge.
func hostileVerifiers() map[string]string {
	return map[string]string{
		"none": "", "the challenge": s256(verifier), "another": strings.Repeat("x", 43), "in capitals": strings.ToUpper(verifier),
		"cut": verifier[:len(verifier)-1], "more": verifier + "x", "a space before": " " + verifier, "a space after": verifier + " ",
		"a line after": verifier + "\n", "NUL after": verifier + "\x00", "twice": verifier + verifier, "padded": verifier + "=",
		"encoded twice": url.QueryEscape(url.QueryEscape(verifier + "~ ")), "in base64": base64.RawURLEncoding.EncodeToString([]byte(verifier)),
		"the hash of the challenge": s256(s256(verifier)), "42 letters": verifier[:42], "129 letters": strings.Repeat("a", 129),
		"one letter": "a", "null": "null", "undefined": "undefined", "a list": `["` + verifier + `"]`, "very long": strings.Repeat("v", 40000),
	}
}

func TestHostilePKCE(t *testing.T) {
	a := newSignIns(t)
	challenges, verifiers := hostileChallenges(), hostileVerifiers()
	for name, change := range challenges {
		if to := a.authorize(browser{}, ask(change...)); to.Query().Get("error") != "invalid_request" {
			t.Errorf("a challenge, %s: led to %s", name, to)
		}
	}
	code := a.code(browser{}, ask())
	for name, sent := range verifiers {
		if _, err := a.redeem(code, "code_verifier", sent); err == nil {
			t.Fatalf("a verifier, %s: was taken", name)
		}
	}
	if _, err := a.redeem(code); err != nil {
		t.Errorf("what was refused used the code up: %v", err)
	}
	if n := len(challenges) + len(verifiers); n < 40 {
		t.Errorf("only %d", n)
	}
}

// TestCodeRaces has each of a hundred codes redeemed by eight at once: one of them
// gets tokens. What it got is revoked, as one of the others must be a thief.
func TestCodeRaces(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgres"} {
		t.Run(driver, func(t *testing.T) {
			config := store.Config{Driver: driver, DSN: ":memory:"}
			if driver == "postgres" {
				config.DSN = storetest.Postgres(t)
			}
			a := newSignInsOn(t, config)
			for range 100 {
				a.race(a.code(browser{}, ask()))
			}
		})
	}
}

func (a *signIns) race(code string) {
	a.t.Helper()
	var given atomic.Int32
	var won atomic.Value
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if r, err := a.redeem(code); err == nil {
				given.Add(1)
				won.Store(r)
			}
		})
	}
	all.Wait()
	if given.Load() != 1 {
		a.t.Fatalf("%d got tokens for one code", given.Load())
	}
	if r := won.Load().(*reply); a.live(r.AccessToken) {
		a.t.Error("the access token outlived the replay of its code")
	}
}

// A confidential client that registered itself needs a challenge or a nonce, even if an
// administrator has set its pkceRequired to false.
func TestSelfRegisteredClientsNeedAChallengeOrANonce(t *testing.T) {
	for _, registration := range []string{schemas.RegisteredDynamically, schemas.RegisteredByDocument} {
		a := newSignIns(t)
		a.clients.list["lax"].Registration = registration
		bare := []string{"client_id", "lax", "code_challenge", "", "code_challenge_method", ""}
		for name, change := range map[string][]string{"no nonce": {"nonce", ""}, "a nonce without an ID token": {"scope", "profile"}} {
			if to := a.authorize(browser{}, ask(append(bare, change...)...)); to.Query().Get("error") != "invalid_request" {
				t.Errorf("%s, %s: led to %s", registration, name, to)
			}
		}
		for name, q := range map[string]url.Values{"a nonce": ask(bare...), "a challenge": ask("client_id", "lax", "nonce", "")} {
			if to := a.authorize(browser{}, q); to.Query().Has("error") {
				t.Errorf("%s, %s: led to %s", registration, name, to)
			}
		}
	}
}
