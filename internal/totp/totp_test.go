package totp

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"image/png"
	"net/url"
	"strings"
	"testing"
	"time"
)

func vector(algorithm, secret string) Key {
	return Key{Secret: base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(secret)), Algorithm: algorithm, Digits: 8}
}

// The test vectors of RFC 6238, Appendix B.
func TestVectors(t *testing.T) {
	const digits = "1234567890"
	keys := map[string]Key{
		SHA1:   vector(SHA1, strings.Repeat(digits, 2)),
		SHA256: vector(SHA256, strings.Repeat(digits, 3)+"12"),
		SHA512: vector(SHA512, strings.Repeat(digits, 6)+"1234"),
	}
	for _, v := range []struct {
		at              int64
		algorithm, code string
	}{
		{59, SHA1, "94287082"}, {59, SHA256, "46119246"}, {59, SHA512, "90693936"},
		{1111111109, SHA1, "07081804"}, {1111111109, SHA256, "68084774"}, {1111111109, SHA512, "25091201"},
		{1111111111, SHA1, "14050471"}, {1234567890, SHA256, "91819424"}, {2000000000, SHA512, "38618901"},
		{20000000000, SHA1, "65353130"}, {20000000000, SHA256, "77737706"}, {20000000000, SHA512, "47863826"},
	} {
		if got, err := keys[v.algorithm].Code(time.Unix(v.at, 0)); got != v.code || err != nil {
			t.Errorf("%s at %d: %q, %v; expected %q", v.algorithm, v.at, got, err, v.code)
		}
	}
}

func TestVerify(t *testing.T) {
	k, another := vector(SHA1, "12345678901234567890"), vector(SHA1, "09876543210987654321")
	k.Digits, another.Digits = 6, 6
	now := time.Unix(1_900_000_000, 0)
	step := Step(now)
	shown := func(after time.Duration) string {
		code, err := k.Code(now.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	other, err := another.Code(now)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, code string
		last, want int64 // want: 0 for none
	}{
		{"of now", shown(0), 0, step},
		{"as apps show it", shown(0)[:3] + " " + shown(0)[3:] + "\n", 0, step},
		{"of the step before", shown(-Period), 0, step - 1},
		{"of the step after", shown(Period), 0, step + 1},
		{"two steps old", shown(-2 * Period), 0, 0},
		{"two steps early", shown(2 * Period), 0, 0},
		{"used", shown(0), step, 0},
		{"before one that was used", shown(-Period), step, 0},
		{"after one that was used", shown(Period), step, step + 1},
		{"of another key", other, 0, 0},
		{"nothing", "", 0, 0},
		{"too short", shown(0)[:5], 0, 0},
		{"too long", shown(0) + "0", 0, 0},
	} {
		got, ok, err := k.Verify(test.code, now, test.last)
		if got != test.want || ok != (test.want != 0) || err != nil {
			t.Errorf("%s: %d, %v, %v; expected %d", test.name, got, ok, err, test.want)
		}
	}
}

func TestKeysThatAreNone(t *testing.T) {
	for _, k := range []Key{{}, {Secret: "AAAA", Algorithm: "MD5", Digits: 6}, {Secret: "AAAA", Algorithm: SHA1, Digits: 1}, {Secret: "!", Algorithm: SHA1, Digits: 6}} {
		if _, ok, err := k.Verify("000000", time.Unix(0, 0).Add(time.Hour), 0); ok || err == nil {
			t.Errorf("%+v: verified %v, %v", k, ok, err)
		}
	}
}

func TestURI(t *testing.T) {
	k := Key{Secret: "GEZDGNBVGY3TQOJQ", Algorithm: SHA1, Digits: 6}
	got := k.URI("Ex: A & B", "ada+x@example.com")
	u, err := url.Parse(got)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/Ex  A & B:ada+x@example.com" ||
		q.Get("secret") != k.Secret || q.Get("issuer") != "Ex  A & B" || q.Get("digits") != "6" || q.Get("period") != "30" || q.Get("algorithm") != "SHA1" {
		t.Errorf("got %s", got)
	}
	if strings.Contains(got, "+") {
		t.Errorf("%s: apps do not take + for a blank", got)
	}
}

// A picture is a PNG with a light margin, small enough for a reply.
func TestPicture(t *testing.T) {
	uri := New(SHA1, 6).URI("Example", "ada@example.com")
	text, err := QRCode(uri)
	if err != nil {
		t.Fatal(err)
	}
	data, ok := strings.CutPrefix(text, "data:image/png;base64,")
	raw, err := base64.StdEncoding.DecodeString(data)
	if !ok || err != nil || len(raw) > 4<<10 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	at := func(module int) uint32 {
		r, _, _, _ := picture.At(module*modulePixels, module*modulePixels).RGBA()
		return r
	}
	if at(0) != 0xffff || at(quietModules-1) != 0xffff || at(quietModules) != 0 {
		t.Errorf("expected light around the code, and a dark corner")
	}
	if _, err := QRCode(strings.Repeat("x", 5000)); err == nil {
		t.Error("what does not fit was drawn")
	}
}
