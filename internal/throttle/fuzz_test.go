package throttle

import (
	"testing"
	"time"
)

// FuzzOpenDevice looks for a cookie that proves a sign-in and was not sealed here.
func FuzzOpenDevice(f *testing.F) {
	now := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	genuine := OpenDevice(seal("key"), "")
	genuine.SignedIn("ada", byPassword(), now)
	text := genuine.Seal(seal("key"))
	for _, seed := range []string{text, text + "=", text[:len(text)-4], genuine.Seal(seal("other")), "", "AAAA", "\xff", "a b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sealed string) {
		if d := OpenDevice(seal("unused"), sealed); d.text != (devicePlaintext{}) {
			t.Errorf("a key that sealed nothing opens %q", sealed)
		}
		d := OpenDevice(seal("key"), sealed)
		if again := OpenDevice(seal("key"), d.Seal(seal("key"))); d.text != (devicePlaintext{}) && again.text != d.text {
			t.Errorf("%q changes when it is sealed again", sealed)
		}
	})
}
