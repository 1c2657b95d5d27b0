package throttle

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// DeviceTTL is how long a device is known to belong to a user after a sign-in.
const DeviceTTL = familiarFor

// deviceUsers is how many users a device may belong to: a family, say.
const deviceUsers = 8

// Device is a browser that tells who has signed in to with it before. It keeps that
// itself, sealed: nothing is stored here of who has which device. All are of one
// length, so that nobody sees how many people use it.
//
// Whoever steals one may guess on at the accounts of those users, for a budget that
// the device keeps through all of its sign-ins. For any other it is worth nothing.
type Device struct {
	text    deviceText
	changed bool
}

// deviceText is what is sealed.
type deviceText struct {
	ID    Key // made at the first sign-in
	Users [deviceUsers]deviceUser
}

// deviceUser is a user of a device, and the last day with a sign-in, counted from
// 1970. The zero deviceUser is a free place.
type deviceUser struct {
	User Key
	Day  uint32
}

// Sealer keeps what is in other hands from being read or made by others.
type Sealer interface {
	Seal(text []byte, belongs string) []byte
	// Open fails for what was not sealed as belonging to the same.
	Open(sealed []byte, belongs string) ([]byte, error)
}

const belongsToDevice = "device"

// OpenDevice returns the device that a browser says it is: a new one for whatever
// was not sealed here.
func OpenDevice(s Sealer, sealed string) *Device {
	var text deviceText
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || sealed == "" {
		return &Device{}
	}
	opened, err := s.Open(raw, belongsToDevice)
	if err != nil || binary.Read(bytes.NewReader(opened), binary.BigEndian, &text) != nil {
		return &Device{}
	}
	return &Device{text: text}
}

// Seal returns what the browser is to keep.
func (d *Device) Seal(s Sealer) string {
	var text bytes.Buffer
	_ = binary.Write(&text, binary.BigEndian, d.text) // of a fixed size, into memory
	return base64.RawURLEncoding.EncodeToString(s.Seal(text.Bytes(), belongsToDevice))
}

// Changed reports whether the browser has to keep it anew.
func (d *Device) Changed() bool { return d.changed }

// SignedIn notes that a user has signed in: all the way, not by a right password
// that another factor was still to follow. Whoever knows the password alone could
// else have a device, and a budget for the other factor, as often as they like.
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

// of is the key of the device for a user; zero if the user has not signed in with it,
// or long ago.
func (d *Device) of(userID string, now time.Time) Key {
	user := KeyOf(userID)
	if d == nil || user == (Key{}) {
		return Key{}
	}
	const days = uint32(DeviceTTL / day)
	if at := d.find(user); at == nil || dayOf(now) >= at.Day+days {
		return Key{}
	}
	return d.text.ID.with(user)
}

// known is the key of the device, zero if nobody has signed in with it for long.
func (d *Device) known(now time.Time) Key {
	if d == nil {
		return Key{}
	}
	const days = uint32(DeviceTTL / day)
	for _, u := range d.text.Users {
		if u.User != (Key{}) && dayOf(now) < u.Day+days {
			return d.text.ID
		}
	}
	return Key{}
}

func (d *Device) find(user Key) *deviceUser {
	for i := range d.text.Users {
		if d.text.Users[i].User == user {
			return &d.text.Users[i]
		}
	}
	return nil
}

// oldest is the place of whoever has not signed in for longest.
func (d *Device) oldest() *deviceUser {
	oldest := &d.text.Users[0]
	for i := range d.text.Users {
		if d.text.Users[i].Day < oldest.Day {
			oldest = &d.text.Users[i]
		}
	}
	return oldest
}

const day = 24 * time.Hour

func dayOf(t time.Time) uint32 { return uint32(t.Unix() / int64(day/time.Second)) }

type deviceKey struct{}

// WithDevice is ctx for a request from a device, for [Throttle.Guess].
func WithDevice(ctx context.Context, d *Device) context.Context {
	return context.WithValue(ctx, deviceKey{}, d)
}
