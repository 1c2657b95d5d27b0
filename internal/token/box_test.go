package token_test

import (
	"bytes"
	"testing"

	"github.com/postern-id/postern/internal/token"
)

func TestBox(t *testing.T) {
	box := func(b byte) *token.Box {
		made, err := token.NewBox(bytes.Repeat([]byte{b}, 32))
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
	if _, err := token.NewBox(make([]byte, 31)); err == nil {
		t.Error("a key of 31 bytes was taken")
	}
}
