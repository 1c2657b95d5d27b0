package throttle

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// DeviceTTL is how long after a sign-in a device counts as the user's.
const DeviceTTL = familiarTTL

// deviceUsers is how many users may share a device, such as a family.
const deviceUsers = 8

// Device is a browser that proves which users have signed in with it before, and what each of
// them has proved then. The browser stores the proof, sealed; the server stores nothing about it.
// All proofs have the same length, which hides the number of users.
//
// A device is known to a user for a strength, and counts as unknown for any other: an attacker who
// knows the password can sign in where the password is enough, any number of times, and must not
// get more guesses at the second factor from that.
//
// A stolen proof allows guesses at the accounts of those users only, within a budget that
// the device keeps through all of its sign-ins, and that all known devices of a user share.
type Device struct {
	text    devicePlaintext
	changed bool
	// outdated is a device of an earlier release, which does not state any strength.
	outdated bool
}

// devicePlaintext is the plaintext of a sealed device.
type devicePlaintext struct {
	ID    Key // generated at the first sign-in
	Users [deviceUsers]deviceUser
}

// deviceUser is a user of a device and, for each of deviceStrengths, the day of the last sign-in
// that proved it, counted from 1970; 0 for none. The zero deviceUser is a free place.
type deviceUser struct {
	User Key
	Days [strengths]uint16
}

// strengths is the number of deviceStrengths.
const strengths = 13

// deviceStrengths returns what a sign-in can have proved: a secret, or a class. Their order and
// number are the format of the cookie.
func deviceStrengths() [strengths]string {
	return [strengths]string{
		string(schemas.PasswordSecret), string(schemas.MailedSecret), string(schemas.TOTPSecret), string(schemas.RecoverySecret),
		schemas.ACRVouched, schemas.ACRRecovery, schemas.ACROneTimeCode, schemas.ACRPassword, schemas.ACRMultiFactor,
		schemas.ACRPhishingResistant, schemas.ACRPhishingResistantProtected, schemas.ACRMultiFactorPR, schemas.ACRMultiFactorPRProtected,
	}
}

// outdatedPlaintext is the plaintext of a device of a release that did not record strengths.
type outdatedPlaintext struct {
	ID    Key
	Users [deviceUsers]struct {
		User Key
		Day  uint32
	}
}

// renewed returns the plaintext in the format of today. A sign-in of unknown strength counts as one
// with a password alone.
func (o *outdatedPlaintext) renewed() (text devicePlaintext) {
	text.ID = o.ID
	for i, u := range o.Users {
		if u.User != (Key{}) {
			text.Users[i].User = u.User
			text.Users[i].prove(schemas.BrowserStrength{ACR: schemas.ACRPassword, Secrets: []schemas.GuessedSecret{schemas.PasswordSecret}}, uint16(u.Day))
		}
	}
	return text
}

// prove records what a sign-in on a day has proved, and reports whether that is new.
func (u *deviceUser) prove(s schemas.BrowserStrength, day uint16) (changed bool) {
	for i, strength := range deviceStrengths() {
		if (strength == s.ACR || slices.Contains(s.Secrets, schemas.GuessedSecret(strength))) && u.Days[i] != day {
			u.Days[i], changed = day, true
		}
	}
	return changed
}

// has reports whether a sign-in within DeviceTTL has proved a strength that meets a condition.
func (u *deviceUser) has(now time.Time, meets func(strength string) bool) bool {
	for i, strength := range deviceStrengths() {
		if last := u.Days[i]; last != 0 && dayOf(now) < int(last)+int(DeviceTTL/day) && meets(strength) {
			return true
		}
	}
	return false
}

// Sealer encrypts and authenticates data that others store.
type Sealer interface {
	Seal(text []byte, belongs string) []byte
	// Open fails unless the data was sealed with the same belongs.
	Open(sealed []byte, belongs string) ([]byte, error)
}

const deviceOwner = "device"

// OpenDevice opens the device that a browser sent. It returns a new one for anything that
// was not sealed here.
func OpenDevice(s Sealer, sealed string) *Device {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || sealed == "" {
		return &Device{}
	}
	opened, err := s.Open(raw, deviceOwner)
	if err != nil {
		return &Device{}
	}
	var text devicePlaintext
	var outdated outdatedPlaintext
	switch len(opened) {
	case binary.Size(text):
		_ = binary.Read(bytes.NewReader(opened), binary.BigEndian, &text) // has the size
		return &Device{text: text}
	case binary.Size(outdated):
		_ = binary.Read(bytes.NewReader(opened), binary.BigEndian, &outdated) // likewise
		return &Device{text: outdated.renewed(), outdated: true}
	}
	return &Device{}
}

// Seal returns the value for the browser to store.
func (d *Device) Seal(s Sealer) string {
	var text bytes.Buffer
	_ = binary.Write(&text, binary.BigEndian, d.text) // has a fixed size and writes to memory
	return base64.RawURLEncoding.EncodeToString(s.Seal(text.Bytes(), deviceOwner))
}

// Changed reports whether the browser has to store the device again.
func (d *Device) Changed() bool { return d.changed }

// SignedIn records that a user has completed a sign-in, and what it proved.
func (d *Device) SignedIn(userID string, s schemas.BrowserStrength, now time.Time) {
	user := KeyOf(userID)
	if d.text.ID == (Key{}) {
		rand.Read(d.text.ID[:]) // never fails
	}
	at := d.find(user)
	if at == nil {
		at = d.oldest()
		*at = deviceUser{User: user}
	}
	if at.prove(s, uint16(dayOf(now))) {
		d.changed = true
	}
}

// of returns the key of the device for a guess. It is zero unless the user has proved the secret
// with the device within DeviceTTL.
func (d *Device) of(g schemas.Guess, now time.Time) Key {
	if !d.proved(g.UserID, now, func(strength string) bool { return strength == string(g.Secret) }) {
		return Key{}
	}
	return d.text.ID.with(KeyOf(g.UserID))
}

// proved reports whether a sign-in of a user with the device within DeviceTTL has proved a strength
// that meets a condition.
func (d *Device) proved(userID string, now time.Time, meets func(strength string) bool) bool {
	user := KeyOf(userID)
	if d == nil || user == (Key{}) {
		return false
	}
	at := d.find(user)
	return at != nil && at.has(now, meets)
}

// isKnownFor is proved for a strength of schemas.ParseKnownFor.
func (d *Device) isKnownFor(userID, strength string, now time.Time) bool {
	if strength == schemas.BrowserEmail {
		strength = string(schemas.MailedSecret)
	}
	return d.proved(userID, now, func(has string) bool { return schemas.Satisfies(has, strength) })
}

// known returns the key of the device. It is zero if no user has signed in with it within
// DeviceTTL.
func (d *Device) known(now time.Time) Key {
	anything := func(string) bool { return true }
	if d == nil || !slices.ContainsFunc(d.text.Users[:], func(u deviceUser) bool { return u.User != Key{} && u.has(now, anything) }) {
		return Key{}
	}
	return d.text.ID
}

func (d *Device) find(user Key) *deviceUser {
	i := slices.IndexFunc(d.text.Users[:], func(u deviceUser) bool { return u.User == user })
	if i < 0 {
		return nil
	}
	return &d.text.Users[i]
}

// oldest returns the place with the oldest sign-in.
func (d *Device) oldest() *deviceUser {
	last := func(u deviceUser) uint16 { return slices.Max(u.Days[:]) }
	oldest := slices.MinFunc(d.text.Users[:], func(a, b deviceUser) int { return cmp.Compare(last(a), last(b)) })
	return d.find(oldest.User)
}

const day = 24 * time.Hour

func dayOf(t time.Time) int { return int(t.Unix() / int64(day/time.Second)) }

type deviceKey struct{}

// KnowsBrowser reports whether a user has signed in with the device of ctx within DeviceTTL, and
// proved as much as a strength: see schemas.ParseKnownFor. It also returns true if ctx has no device,
// because the request came without the means to recognize one, and for a device of an earlier
// release, whose strength is not known.
func KnowsBrowser(ctx context.Context, userID, strength string, now time.Time) bool {
	device, _ := ctx.Value(deviceKey{}).(*Device)
	if device != nil && device.outdated {
		strength = schemas.ACRVouched
	}
	return device == nil || device.isKnownFor(userID, strength, now)
}

// RecognizesBrowser reports whether a user has signed in with the device of ctx within DeviceTTL, and
// proved as much as a strength: see schemas.ParseKnownFor. It returns false if ctx has no device.
func RecognizesBrowser(ctx context.Context, userID, strength string, now time.Time) bool {
	device, _ := ctx.Value(deviceKey{}).(*Device)
	return device.isKnownFor(userID, strength, now)
}

// WithDevice returns ctx for a request from a device, for [Throttle.Guess].
func WithDevice(ctx context.Context, d *Device) context.Context {
	return context.WithValue(ctx, deviceKey{}, d)
}
