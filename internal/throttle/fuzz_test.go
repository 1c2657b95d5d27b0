package throttle

import (
	"testing"
	"time"
)

// FuzzOpenDevice looks for a cookie that proves a sign-in and was not sealed here.
func FuzzOpenDevice(f *testing.F) {
	now := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	genuine := OpenDevice(seal("key"), "")
	genuine.SignedIn("ada", now)
	text := genuine.Seal(seal("key"))
	for _, seed := range []string{text, text + "=", text[:len(text)-4], genuine.Seal(seal("other")), "", "AAAA", "\xff", "a b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sealed string) {
		d := OpenDevice(seal("key"), sealed)
		if d.text != (devicePlaintext{}) && d.Seal(seal("key")) != text {
			t.Errorf("%q is taken for a device", sealed)
		}
	})
}
