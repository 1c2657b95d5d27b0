package passkeytest_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
)

const (
	origin   = "https://login.example.com"
	creation = `{"challenge":"AAECAwQFBgcICQoLDA0ODw","rp":{"id":"example.com"},"user":{"id":"YWxpY2U","name":"alice"},"pubKeyCredParams":[{"alg":-8},{"alg":-7},{"alg":-257}]}`
	request  = `{"challenge":"AAECAwQFBgcICQoLDA0ODw","rpId":"example.com"}`
)

// with adds a member to options.
func with(options, member string) json.RawMessage {
	return json.RawMessage(strings.TrimSuffix(options, "}") + "," + member + "}")
}

func register(t *testing.T, a *passkeytest.Authenticator, options string) string {
	t.Helper()
	answer, err := a.Register(json.RawMessage(options), origin)
	if err != nil {
		t.Fatal(err)
	}
	return answer.ID
}

// TestSeed: the same calls with the same seed return the same bytes for every algorithm;
// other seeds return others.
func TestSeed(t *testing.T) {
	type answers struct{ Registered, Authenticated any }
	run := func(seed string, alg int64) answers {
		a := passkeytest.New(passkeytest.Seed(seed), passkeytest.Algorithms(alg))
		registered, err := a.Register(with(creation, `"attestation":"direct"`), origin)
		if err != nil {
			t.Fatal(err)
		}
		authenticated, err := a.Authenticate(json.RawMessage(request), origin)
		if err != nil {
			t.Fatal(err)
		}
		return answers{registered, authenticated}
	}
	for _, alg := range []int64{-7, -8, -257} {
		one := run("seed", alg)
		if !reflect.DeepEqual(one, run("seed", alg)) {
			t.Errorf("algorithm %d: expected the same answers from the same seed", alg)
		}
		if reflect.DeepEqual(one, run("another", alg)) {
			t.Errorf("algorithm %d: expected other answers from another seed", alg)
		}
	}
}

// TestDeclines checks what an authenticator and its browser refuse.
func TestDeclines(t *testing.T) {
	a := passkeytest.New(passkeytest.Seed("declines"), passkeytest.Algorithms(-7), passkeytest.CannotVerify())
	if _, err := a.Authenticate(json.RawMessage(request), origin); !errors.Is(err, passkeytest.ErrNoPasskey) {
		t.Errorf("expected an empty authenticator to have no passkey, got %v", err)
	}
	id := register(t, a, creation)
	for member, want := range map[string]error{
		`"excludeCredentials":[{"id":"` + id + `"}]`:                            passkeytest.ErrExcluded,
		`"excludeCredentials":[{"id":"AAAA"}]`:                                  nil,
		`"authenticatorSelection":{"authenticatorAttachment":"cross-platform"}`: passkeytest.ErrUnsuitable,
		`"authenticatorSelection":{"userVerification":"required"}`:              passkeytest.ErrUnsuitable,
		`"pubKeyCredParams":[{"alg":-8}]`:                                       passkeytest.ErrUnsuitable,
	} {
		if _, err := a.Register(with(creation, member), origin); !errors.Is(err, want) {
			t.Errorf("creating with %s: expected %v, got %v", member, want, err)
		}
	}
	for member, want := range map[string]error{
		`"allowCredentials":[{"id":"` + id + `"},{"id":"AAAA"}]`: nil,
		`"allowCredentials":[{"id":"AAAA"}]`:                     passkeytest.ErrNoPasskey,
		`"rpId":"example.org"`:                                   passkeytest.ErrNoPasskey,
		`"userVerification":"required"`:                          passkeytest.ErrUnsuitable,
	} {
		if _, err := a.Authenticate(with(request, member), origin); !errors.Is(err, want) {
			t.Errorf("getting with %s: expected %v, got %v", member, want, err)
		}
	}
	if _, err := a.Register(json.RawMessage(`{"publicKey":`+creation+`}`), origin); err == nil || !strings.Contains(err.Error(), "publicKey") {
		t.Errorf("expected wrapped options to be refused with the reason, got %v", err)
	}
	if _, err := a.Authenticate(json.RawMessage(request), origin, passkeytest.Canceled); !errors.Is(err, passkeytest.ErrCanceled) {
		t.Errorf("expected the user to cancel, got %v", err)
	}
}

// TestSelection selects the newest passkey or that of a user, and deletes passkeys.
func TestSelection(t *testing.T) {
	a := passkeytest.New(passkeytest.Seed("selection"))
	alice := register(t, a, creation)
	bob := register(t, a, strings.Replace(creation, "YWxpY2U", "Ym9i", 1))
	pick := func(hows ...passkeytest.CeremonyOption) string {
		t.Helper()
		answer, err := a.Authenticate(json.RawMessage(request), origin, hows...)
		if err != nil {
			t.Fatal(err)
		}
		return answer.ID
	}
	if got := pick(); got != bob {
		t.Errorf("expected the newest, bob's %s, got %s", bob, got)
	}
	if got := pick(passkeytest.As("alice")); got != alice {
		t.Errorf("expected alice's %s, got %s", alice, got)
	}
	held := a.Credentials()
	if len(held) != 2 || held[0].SignCount != 1 || held[1].SignCount != 1 {
		t.Errorf("expected two passkeys that signed once each, got %+v", held)
	}
	a.Forget(held[1].ID)
	if got := pick(); got != alice {
		t.Errorf("expected alice's %s after bob's was removed, got %s", alice, got)
	}
	if got := pick(passkeytest.ForeignCredential); got == alice {
		t.Error("expected a passkey that is not held")
	}
}

// TestFaultsChangeSomething: every fault changes the answer in ceremonies where it has a
// meaning, and is rejected in others.
func TestFaultsChangeSomething(t *testing.T) {
	for _, fault := range passkeytest.Faults() {
		t.Run(string(fault), func(t *testing.T) {
			run := func(hows ...passkeytest.CeremonyOption) (registered, authenticated any, errs [2]error) {
				a := passkeytest.New(passkeytest.Seed("faults"))
				register(t, a, creation)
				registered, errs[0] = a.Register(json.RawMessage(creation), origin, hows...)
				b := passkeytest.New(passkeytest.Seed("faults"))
				register(t, b, creation)
				if _, err := b.Authenticate(json.RawMessage(request), origin); err != nil {
					t.Fatal(err)
				}
				authenticated, errs[1] = b.Authenticate(json.RawMessage(request), origin, hows...)
				return registered, authenticated, errs
			}
			r0, a0, errs := run()
			if errs != [2]error{} {
				t.Fatal(errs)
			}
			r1, a1, errs := run(fault)
			if errs[0] != nil && errs[1] != nil && fault != passkeytest.Canceled {
				t.Errorf("expected the fault to mean something somewhere, got %v", errs)
			}
			if errs[0] == nil && reflect.DeepEqual(r0, r1) {
				t.Error("the fault changes nothing in a registration")
			}
			if errs[1] == nil && reflect.DeepEqual(a0, a1) {
				t.Error("the fault changes nothing in an authentication")
			}
		})
	}
	if _, err := passkeytest.New().Register(json.RawMessage(creation), origin, passkeytest.Fault("typo")); err == nil || !strings.Contains(err.Error(), "wrong-origin") {
		t.Errorf("expected an unknown fault to be refused with the list of known ones, got %v", err)
	}
}
