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
)

// DeviceTTL is how long after a sign-in a device counts as the user's.
const DeviceTTL = familiarTTL

// deviceUsers is how many users may share a device, such as a family.
const deviceUsers = 8

// Device is a browser that proves which users have signed in with it before. The browser
// stores the proof, sealed; the server stores nothing about it. All proofs have the same
// length, which hides the number of users.
//
// A stolen proof allows guesses at the accounts of those users only, within a budget that
// the device keeps through all of its sign-ins.
type Device struct {
	text    devicePlaintext
	changed bool
}

// devicePlaintext is the plaintext of a sealed device.
type devicePlaintext struct {
	ID    Key // generated at the first sign-in
	Users [deviceUsers]deviceUser
}

// deviceUser is a user of a device and the day of the last sign-in, counted from 1970. The
// zero deviceUser is a free place.
type deviceUser struct {
	User Key
	Day  uint32
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
	var text devicePlaintext
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || sealed == "" {
		return &Device{}
	}
	opened, err := s.Open(raw, deviceOwner)
	if err != nil || binary.Read(bytes.NewReader(opened), binary.BigEndian, &text) != nil {
		return &Device{}
	}
	return &Device{text: text}
}

// Seal returns the value for the browser to store.
func (d *Device) Seal(s Sealer) string {
	var text bytes.Buffer
	_ = binary.Write(&text, binary.BigEndian, d.text) // has a fixed size and writes to memory
	return base64.RawURLEncoding.EncodeToString(s.Seal(text.Bytes(), deviceOwner))
}

// Changed reports whether the browser has to store the device again.
func (d *Device) Changed() bool { return d.changed }

// SignedIn records that a user has completed a sign-in. A right password before a second
// factor is not enough: an attacker who knows the password could otherwise get any number
// of devices, each with a budget for guesses at the second factor.
func (d *Device) SignedIn(userID string, now time.Time) {
	user, today := KeyOf(userID), dayOf(now)
	if d.text.ID == (Key{}) {
		rand.Read(d.text.ID[:]) // never fails
	}
	at := d.find(user)
	if at == nil {
		at = d.oldest()
	}
	if last := (deviceUser{user, today}); *at != last {
		*at, d.changed = last, true
	}
}

// of returns the key of the device for a user. It is zero if the user has not signed in
// with it within DeviceTTL.
func (d *Device) of(userID string, now time.Time) Key {
	user := KeyOf(userID)
	if d == nil || user == (Key{}) {
		return Key{}
	}
	if at := d.find(user); at == nil || !at.isRecent(now) {
		return Key{}
	}
	return d.text.ID.with(user)
}

// known returns the key of the device. It is zero if no user has signed in with it within
// DeviceTTL.
func (d *Device) known(now time.Time) Key {
	if d == nil || !slices.ContainsFunc(d.text.Users[:], func(u deviceUser) bool { return u.User != Key{} && u.isRecent(now) }) {
		return Key{}
	}
	return d.text.ID
}

// isRecent reports whether the sign-in was within DeviceTTL.
func (u deviceUser) isRecent(now time.Time) bool { return dayOf(now) < u.Day+uint32(DeviceTTL/day) }

func (d *Device) find(user Key) *deviceUser {
	i := slices.IndexFunc(d.text.Users[:], func(u deviceUser) bool { return u.User == user })
	if i < 0 {
		return nil
	}
	return &d.text.Users[i]
}

// oldest returns the place with the oldest sign-in.
func (d *Device) oldest() *deviceUser {
	oldest := slices.MinFunc(d.text.Users[:], func(a, b deviceUser) int { return cmp.Compare(a.Day, b.Day) })
	return d.find(oldest.User)
}

const day = 24 * time.Hour

func dayOf(t time.Time) uint32 { return uint32(t.Unix() / int64(day/time.Second)) }

type deviceKey struct{}

// KnowsBrowser reports whether a user has signed in with the device of ctx within DeviceTTL. It also
// returns true if ctx has no device, because the request came without the means to recognize one.
func KnowsBrowser(ctx context.Context, userID string, now time.Time) bool {
	device, _ := ctx.Value(deviceKey{}).(*Device)
	return device == nil || device.of(userID, now) != Key{}
}

// RecognizesBrowser reports whether a user has signed in with the device of ctx within DeviceTTL. It
// returns false if ctx has no device.
func RecognizesBrowser(ctx context.Context, userID string, now time.Time) bool {
	device, _ := ctx.Value(deviceKey{}).(*Device)
	return device != nil && device.of(userID, now) != Key{}
}

// WithDevice returns ctx for a request from a device, for [Throttle.Guess].
func WithDevice(ctx context.Context, d *Device) context.Context {
	return context.WithValue(ctx, deviceKey{}, d)
}
