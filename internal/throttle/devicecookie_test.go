package throttle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
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

// byPassword is the strength of a sign-in with a password.
func byPassword() schemas.BrowserStrength {
	return schemas.BrowserStrength{ACR: schemas.ACRPassword, Secrets: []schemas.GuessedSecret{schemas.PasswordSecret}}
}

// A device gives more guesses to the users who have signed in with it, until it expires.
func TestDevice(t *testing.T) {
	start := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	ours := OpenDevice(seal("key"), "")
	ours.SignedIn("ada", byPassword(), start)
	ours.SignedIn("bea", byPassword(), start.Add(-day))
	text := ours.Seal(seal("key"))
	crowded := OpenDevice(seal("key"), text)
	for i := range deviceUsers - 1 {
		crowded.SignedIn(strings.Repeat("x", i+1), byPassword(), start.Add(day))
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
		if got := d.of(schemas.Guess{Secret: schemas.PasswordSecret, UserID: test.user}, start.Add(test.later)) != (Key{}); got != test.want || d.Changed() {
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
			_, err := w.Guess(WithDevice(context.Background(), d), schemas.Guess{Secret: schemas.PasswordSecret, Name: "ada", UserID: user}, func() (bool, error) { return false, nil })
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
	d.SignedIn("ada", byPassword(), w.now)
	if n := count(d, "ada"); n != 3 || !d.Changed() {
		t.Errorf("of a known one %d were checked, want 3", n)
	}
	d.SignedIn("eve", byPassword(), w.now)
	if n := count(OpenDevice(seal("key"), d.Seal(seal("key"))), "ada"); n != 0 {
		t.Errorf("of the same, after another user has signed in, %d were checked, want none", n)
	}
	if n := count(nil, "ada"); n != 0 {
		t.Errorf("without a device %d were checked, want none", n)
	}
}

// A browser is known for what was proved in it, each for DeviceTTL: a later sign-in with less does not
// renew the rest. A cookie of an earlier release is known for a password.
func TestKnownFor(t *testing.T) {
	start := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	sealed := func(signIns ...schemas.BrowserStrength) string {
		d := OpenDevice(seal("key"), "")
		for i, s := range signIns {
			d.SignedIn("ada", s, start.Add(time.Duration(i)*day))
		}
		return d.Seal(seal("key"))
	}
	outdated := outdatedPlaintext{ID: KeyOf("id")}
	outdated.Users[3].User, outdated.Users[3].Day = KeyOf("ada"), uint32(dayOf(start))
	var plain bytes.Buffer
	if err := binary.Write(&plain, binary.BigEndian, outdated); err != nil {
		t.Fatal(err)
	}
	old := base64.RawURLEncoding.EncodeToString(seal("key").Seal(plain.Bytes(), deviceOwner))
	twoFactors := strengthOf(schemas.ACRMultiFactor, schemas.PasswordSecret, schemas.TOTPSecret)
	for name, test := range map[string]struct {
		sealed  string
		after   time.Duration
		want    string // the strengths of schemas.KnownFor
		secrets string
	}{
		"a password":                       {sealed(byPassword()), 0, "password", "password"},
		"two factors":                      {sealed(twoFactors), 0, "password mfa", "password, authenticator app"},
		"a passkey":                        {sealed(strengthOf(schemas.ACRPhishingResistant)), 0, "password phr", ""},
		"a passkey that verifies the user": {sealed(strengthOf(schemas.ACRMultiFactorPR)), 0, "password mfa phr mfa-phr", ""},
		"a mailed code":                    {sealed(strengthOf(schemas.ACRVouched, schemas.MailedSecret)), 0, "email", "mailed code"},
		"a password and a mailed code":     {sealed(strengthOf(schemas.ACRPassword, schemas.PasswordSecret, schemas.MailedSecret)), 0, "email password", "password, mailed code"},
		"an app that a password has added": {sealed(strengthOf(schemas.ACRPassword, schemas.PasswordSecret, schemas.TOTPSecret)), 0, "password", "password, authenticator app"},
		"two sign-ins":                     {sealed(twoFactors, strengthOf(schemas.ACRPhishingResistant)), day, "password mfa phr", "password, authenticator app"},
		"two factors, too long ago":        {sealed(twoFactors, byPassword()), DeviceTTL, "password", "password"},
		"all too long ago":                 {sealed(twoFactors, byPassword()), DeviceTTL + day, "", ""},
		"an earlier release":               {old, 0, "password", "password"},
		"an earlier release, too long ago": {old, DeviceTTL, "", ""},
	} {
		d := OpenDevice(seal("key"), test.sealed)
		ctx, now := WithDevice(t.Context(), d), start.Add(test.after)
		var known, secrets []string
		for _, name := range schemas.KnownFor() {
			strength, ok := schemas.ParseKnownFor(name)
			if RecognizesBrowser(ctx, "ada", strength, now) && ok {
				known = append(known, name)
			}
			if RecognizesBrowser(ctx, "eve", strength, now) || RecognizesBrowser(t.Context(), "ada", strength, now) {
				t.Errorf("%s: known to another user, or without a device", name)
			}
		}
		for _, secret := range schemas.AccountSecrets() {
			if d.of(schemas.Guess{Secret: secret, UserID: "ada"}, now) != (Key{}) {
				secrets = append(secrets, string(secret))
			}
		}
		if got, of := strings.Join(known, " "), strings.Join(secrets, ", "); got != test.want || sorted(of) != sorted(test.secrets) {
			t.Errorf("%s: known for %q and the secrets %q, want %q and %q", name, got, of, test.want, test.secrets)
		}
	}
	d := OpenDevice(seal("key"), old)
	if d.SignedIn("ada", twoFactors, start); !d.Changed() || d.text.ID != outdated.ID || !d.isKnownFor("ada", schemas.ACRMultiFactor, start) {
		t.Error("an outdated device is not renewed")
	}
	if d := OpenDevice(seal("key"), old); !KnowsBrowser(WithDevice(t.Context(), d), "ada", schemas.ACRMultiFactorPR, start) || KnowsBrowser(WithDevice(t.Context(), d), "eve", schemas.ACRPassword, start) {
		t.Error("the first sign-in after an upgrade causes a notice, or one of another user does not")
	}
}

func sorted(list string) string {
	words := strings.Split(list, ", ")
	slices.Sort(words)
	return strings.Join(words, ", ")
}
