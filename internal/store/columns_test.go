package store

import (
	"reflect"
	"testing"
	"time"
	"unicode/utf8"
)

func TestLines(t *testing.T) {
	for _, want := range [][]string{nil, {}, {""}, {"a"}, {"a", "", "b c"}, {"", ""}} {
		kept, err := lines(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := list(kept); !reflect.DeepEqual(got, want) {
			t.Errorf("%#v comes back as %#v", want, got)
		}
	}
	if _, err := lines([]string{"a\nb"}); err == nil {
		t.Error("a word of two lines was kept")
	}
}

func TestMoment(t *testing.T) {
	for _, want := range []time.Time{{}, time.Unix(0, 0).UTC(), time.Date(2026, 2, 29, 1, 2, 3, 456789000, time.UTC)} {
		if got := moment(micros(want)); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%v comes back as %v", want, got)
		}
	}
}

// FuzzIdentifierKey checks what uniqueness rests on: a key is its own key, and
// one that both databases can hold.
func FuzzIdentifierKey(f *testing.F) {
	for _, seed := range []string{"ann", " Ann Smith ", "ＡＮＮ", "Zoe\u0308", "İ", "ΑΣ Σ", "a\x00", "\xff", "\u212a", "ǅ x", "ﷺ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, ok := identifierKey(value)
		if !ok {
			return
		}
		if !storable(key) || !utf8.ValidString(key) || key == "" {
			t.Fatalf("%q has the key %q, which cannot be kept", value, key)
		}
		if again, ok := identifierKey(key); !ok || again != key {
			t.Fatalf("%q has the key %q, and that has the key %q (%v)", value, key, again, ok)
		}
	})
}
