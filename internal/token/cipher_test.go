package token_test

import (
	"bytes"
	"testing"

	"github.com/postern-id/postern/internal/token"
)

// boxes are the constructors of ciphers.
func boxes() map[string]func(keys ...[]byte) (*token.Cipher, error) {
	return map[string]func(...[]byte) (*token.Cipher, error){"Box": token.NewCipher, "BusyBox": token.NewFrequentCipher}
}

func TestBox(t *testing.T) {
	for name, newBox := range boxes() {
		t.Run(name, func(t *testing.T) { testBox(t, newBox) })
	}
}

func testBox(t *testing.T, newBox func(...[]byte) (*token.Cipher, error)) {
	box := func(b byte) *token.Cipher {
		made, err := newBox(bytes.Repeat([]byte{b}, 32))
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	sealed := box(1).Seal([]byte("secret"), "it")
	if bytes.Contains(sealed, []byte("secret")) || bytes.Equal(sealed, box(1).Seal([]byte("secret"), "it")) {
		t.Errorf("what is sealed is %x: it can be read, or is always the same", sealed)
	}
	text, err := box(1).Open(sealed, "it")
	if err != nil || string(text) != "secret" {
		t.Errorf("%q and %v, expected the text", text, err)
	}
	flipped := append(bytes.Clone(sealed[:len(sealed)-1]), sealed[len(sealed)-1]^1)
	for name, open := range map[string]func() ([]byte, error){
		"another key":   func() ([]byte, error) { return box(2).Open(sealed, "it") },
		"another thing": func() ([]byte, error) { return box(1).Open(sealed, "other") },
		"a flipped bit": func() ([]byte, error) { return box(1).Open(flipped, "it") },
		"a short text":  func() ([]byte, error) { return box(1).Open(sealed[:5], "it") },
		"nothing":       func() ([]byte, error) { return box(1).Open(nil, "it") },
	} {
		if text, err := open(); err == nil {
			t.Errorf("%s opened it as %q", name, text)
		}
	}
	if _, err := newBox(make([]byte, 31)); err == nil {
		t.Error("a key of 31 bytes was taken")
	}
}

// A cipher with several keys opens what any of them has sealed, and reseals it with the
// first. Afterwards the other keys are not needed.
func TestBoxWithSeveralKeys(t *testing.T) {
	for name, newBox := range boxes() {
		t.Run(name, func(t *testing.T) {
			box := func(keys ...byte) *token.Cipher {
				var raw [][]byte
				for _, key := range keys {
					raw = append(raw, bytes.Repeat([]byte{key}, 32))
				}
				made, err := newBox(raw...)
				if err != nil {
					t.Fatal(err)
				}
				return made
			}
			old, both := box(1).Seal([]byte("secret"), "it"), box(3, 2, 1)
			if text, err := both.Open(old, "it"); err != nil || string(text) != "secret" {
				t.Errorf("%q and %v, expected the text", text, err)
			}
			fresh, err := both.Reseal(old, "it")
			if err != nil {
				t.Fatal(err)
			}
			if text, err := box(3).Open(fresh, "it"); err != nil || string(text) != "secret" {
				t.Errorf("the first key alone: %q and %v, expected the text", text, err)
			}
			if text, err := box(2, 1).Open(fresh, "it"); err == nil {
				t.Errorf("older keys open it as %q", text)
			}
			if again, err := both.Reseal(fresh, "it"); err != nil || !bytes.Equal(again, fresh) {
				t.Errorf("what is sealed with the first key was sealed again: %v", err)
			}
			if _, err := both.Reseal(old, "other"); err == nil {
				t.Error("what belongs to something else was resealed")
			}
			if _, err := newBox(); err == nil {
				t.Error("a box without a key was made")
			}
		})
	}
}

// BenchmarkBox seals and opens the state of a step of a run, which a frequent cipher does
// for each step.
func BenchmarkBox(b *testing.B) {
	text := bytes.Repeat([]byte("x"), 2048)
	for name, newBox := range boxes() {
		box, err := newBox(make([]byte, 32))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/seal", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				box.Seal(text, "it")
			}
		})
		sealed := box.Seal(text, "it")
		b.Run(name+"/open", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := box.Open(sealed, "it"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
