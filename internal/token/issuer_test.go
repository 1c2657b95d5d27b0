package token

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	base = "https://localhost:8090"
	app  = "0198c0de-0000-7000-8000-000000000001"
)

func noon() time.Time { return time.Date(2026, 5, 17, 12, 0, 0, 5, time.UTC) }

func kek() []byte { return bytes.Repeat([]byte{7}, kekSize) }

func newIssuer(t testing.TB, keys Keys) *Issuer {
	t.Helper()
	return newIssuerWith(t, keys, Options{AssertionTTL: 10 * time.Minute, Now: noon})
}

func newIssuerWith(t testing.TB, keys Keys, o Options) *Issuer {
	t.Helper()
	o.Issuer = base
	i, err := New(t.Context(), keys, kek(), o)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func newAssertion() schemas.Assertion {
	return schemas.Assertion{
		Subject: "0198c0de-0000-7000-8000-000000000002", Audience: []string{app, base}, AuthTime: noon().Add(-time.Minute),
		AMR: []string{"swk", "user"}, ACR: "phr", Permissions: []string{"system", "audit:read"}, UserType: "Person", OUID: "default",
		Profile: map[string]any{"username": "ann", "email": "ann@example.com", "tags": []string{"a"}},
	}
}

func TestNewKeepsItsKey(t *testing.T) {
	keys := &ring{}
	first := newIssuer(t, keys)
	if len(keys.keys) != 1 {
		t.Fatalf("%d keys were made, expected 1", len(keys.keys))
	}
	raw := issueAssertion(t, first, newAssertion())
	second := newIssuer(t, keys)
	if len(keys.keys) != 1 {
		t.Errorf("a second start made another key")
	}
	if _, err := second.Verify(t.Context(), raw, app); err != nil {
		t.Errorf("a token from before the restart is refused: %v", err)
	}
	if err := second.Ready(); err != nil {
		t.Error(err)
	}
}

// TestNewAfterAnotherInstance has another instance add its key first.
func TestNewAfterAnotherInstance(t *testing.T) {
	keys := &ring{}
	var winner *Issuer
	keys.before = func() { winner = newIssuer(t, keys) }
	loser := newIssuer(t, keys)
	raw := issueAssertion(t, loser, newAssertion())
	if _, err := winner.Verify(t.Context(), raw, app); err != nil || len(keys.keys) != 1 {
		t.Errorf("with %d keys the winner refuses the loser's token: %v", len(keys.keys), err)
	}
}

// TestKeyStatuses: keys that do not sign are still trusted, and keys of unknown algorithms
// are ignored.
func TestKeyStatuses(t *testing.T) {
	keys := &ring{}
	raw := issueAssertion(t, newIssuer(t, keys), newAssertion())
	keys.keys[0].Status = schemas.KeyRetired
	keys.keys = append(keys.keys, schemas.SigningKey{ID: "ed", Algorithm: "EdDSA", Status: schemas.KeySigning})
	rotated := newIssuer(t, keys)
	if len(keys.keys) != 3 {
		t.Fatalf("there are %d keys, expected that a new one signs", len(keys.keys))
	}
	if _, err := rotated.Verify(t.Context(), raw, app); err != nil {
		t.Errorf("a token of the retired key is refused: %v", err)
	}
	again := issueAssertion(t, rotated, newAssertion())
	if header(again) == header(raw) {
		t.Error("the retired key still signs")
	}
}

func header(raw string) string { before, _, _ := strings.Cut(raw, "."); return before }

func TestNewRefuses(t *testing.T) {
	good := &ring{}
	newIssuer(t, good)
	moved, broken := good.keys[0], good.keys[0]
	moved.ID = schemas.NewID()
	broken.Private = broken.Private[:10]
	for _, test := range []struct {
		name, issuer, want string
		kek                []byte
		keys               []schemas.SigningKey
	}{
		{"no issuer", "", "no issuer", kek(), nil},
		{"short kek", base, "31 bytes, expected 32", kek()[1:], nil},
		{"other kek", base, "cannot be opened", bytes.Repeat([]byte{8}, kekSize), good.keys},
		{"key under another id", base, "cannot be opened", kek(), []schemas.SigningKey{moved}},
		{"key cut off", base, "cannot be opened", kek(), []schemas.SigningKey{broken}},
	} {
		i, err := New(t.Context(), &ring{keys: test.keys}, test.kek, Options{Issuer: test.issuer})
		if i != nil || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, %v, expected an error that contains %q", test.name, i, err, test.want)
		}
	}
}

func TestReady(t *testing.T) {
	for _, i := range []*Issuer{nil, {}} {
		if i.Ready() == nil {
			t.Error("an issuer without a key is ready")
		}
		if _, err := i.Assert(t.Context(), newAssertion()); err == nil {
			t.Error("an issuer without a key asserts")
		}
	}
}

// TestSealedKeysDiffer: the same key sealed twice has different ciphertexts.
func TestSealedKeysDiffer(t *testing.T) {
	keys := &ring{}
	i := newIssuer(t, keys)
	s, err := NewCipher(kek())
	if err != nil {
		t.Fatal(err)
	}
	again, err := sealKey(s, keys.keys[0].ID, i.set().signing[ES256].private)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(again, keys.keys[0].Private) {
		t.Error("two seals of one key are equal: the nonce is not random")
	}
}
