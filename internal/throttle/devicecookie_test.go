package throttle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// seal seals by a hash, which is enough to detect values that were not sealed.
type seal string

func (s seal) hash(text []byte, belongs string) []byte {
	sum := sha256.Sum256(append([]byte(string(s)+belongs), text...))
	return sum[:]
}

func (s seal) Seal(text []byte, belongs string) []byte { return append(s.hash(text, belongs), text...) }

func (s seal) Open(sealed []byte, belongs string) ([]byte, error) {
	if len(sealed) < 32 || !bytes.Equal(sealed[:32], s.hash(sealed[32:], belongs)) {
		return nil, errors.New("not sealed here")
	}
	return sealed[32:], nil
}

// A device gives more guesses to the users who have signed in with it, until it expires.
func TestDevice(t *testing.T) {
	start := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	ours := OpenDevice(seal("key"), "")
	ours.SignedIn("ada", start)
	ours.SignedIn("bea", start.Add(-day))
	text := ours.Seal(seal("key"))
	crowded := OpenDevice(seal("key"), text)
	for i := range deviceUsers - 1 {
		crowded.SignedIn(strings.Repeat("x", i+1), start.Add(day))
	}
	foreign := base64.RawURLEncoding.EncodeToString(seal("key").Seal(make([]byte, 10), deviceOwner))
	for name, test := range map[string]struct {
		sealed, user string
		later        time.Duration
		want         bool
	}{
		"who signed in":                  {text, "ada", 0, true},
		"another who did":                {text, "bea", 0, true},
		"who did not":                    {text, "eve", 0, false},
		"nobody":                         {text, "", 0, false},
		"until it is too long ago":       {text, "ada", DeviceTTL - day, true},
		"too long ago":                   {text, "ada", DeviceTTL, false},
		"with a clock that was set back": {text, "ada", -2 * day, true},
		"one of many":                    {crowded.Seal(seal("key")), "ada", 0, true},
		"the oldest of too many":         {crowded.Seal(seal("key")), "bea", 0, false},
		"sealed by another":              {ours.Seal(seal("other")), "ada", 0, false},
		"not sealed":                     {text[3:], "ada", 0, false},
		"no text":                        {"%", "ada", 0, false},
		"a text of another length":       {foreign, "ada", 0, false},
		"nothing":                        {"", "ada", 0, false},
	} {
		d := OpenDevice(seal("key"), test.sealed)
		if got := d.of(test.user, start.Add(test.later)) != (Key{}); got != test.want || d.Changed() {
			t.Errorf("%s: %v, changed %v, want %v", name, got, d.Changed(), test.want)
		}
	}
	if len(text) != len(crowded.Seal(seal("key"))) {
		t.Error("its length reveals how many use it")
	}
}

// A device keeps its budget when another user signs in with it.
func TestDeviceGuesses(t *testing.T) {
	w := newFixture(t, Options{Budgets: Budgets{AccountGuesses: Budget{1, time.Hour}, FamiliarGuesses: Budget{3, time.Hour}}})
	count := func(d *Device, user string) (n int) {
		for range 9 {
			_, err := w.Guess(WithDevice(context.Background(), d), schemas.Guess{Secret: schemas.NameSecret, Name: "ada", UserID: user}, func() (bool, error) { return false, nil })
			if err == nil {
				n++
			} else if !schemas.HasClass(err, schemas.Throttled) {
				t.Fatal(err)
			}
		}
		return n
	}
	d := OpenDevice(seal("key"), "")
	if n := count(d, "ada"); n != 1 {
		t.Errorf("of a new device %d were checked, want the limit of an unknown network", n)
	}
	d.SignedIn("ada", w.now)
	if n := count(d, "ada"); n != 3 || !d.Changed() {
		t.Errorf("of a known one %d were checked, want 3", n)
	}
	d.SignedIn("eve", w.now)
	if n := count(OpenDevice(seal("key"), d.Seal(seal("key"))), "ada"); n != 0 {
		t.Errorf("of the same, after another user has signed in, %d were checked, want none", n)
	}
	if n := count(nil, "ada"); n != 0 {
		t.Errorf("without a device %d were checked, want none", n)
	}
}
