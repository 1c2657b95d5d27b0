package password

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func unbase64(t testing.TB, text string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// knownHash is a hash with its password, from a published test vector.
type knownHash struct {
	Imported
	password string
}

func knownHashes(t testing.TB) map[string]knownHash {
	return map[string]knownHash{
		"bcrypt, crypt_blowfish": {Imported{Scheme: Bcrypt, Text: "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"}, "U*U"},
		"pbkdf2-sha1, RFC 6070":  {NewPBKDF2("sha1", 4096, []byte("salt"), unhex(t, "4b007901b765489abead49d926f721d065a429c1")), "password"},
		"pbkdf2-sha256, RFC 7914 §11, of 64 bytes": {NewPBKDF2("sha256", 1, []byte("salt"), unhex(t, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"+
			"a49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a1978")), "passwd"},
		"scrypt, RFC 7914 §12": {Imported{Scheme: Scrypt, Memory: 14, Rounds: 8, Parallelism: 1, Salt: []byte("SodiumChloride"), Key: unhex(t,
			"7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887")}, "pleaseletmein"},
		"argon2i, phc-winner-argon2": {Imported{Scheme: Argon2i, Memory: 65536, Rounds: 2, Parallelism: 1, Salt: []byte("somesalt"),
			Key: unbase64(t, "wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA=")}, "password"},
		"argon2id, phc-winner-argon2": {Imported{Scheme: Argon2id, Memory: 65536, Rounds: 2, Parallelism: 1, Salt: []byte("somesalt"),
			Key: unbase64(t, "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc=")}, "password"},
		"hmac-sha256, RFC 4231 §4.3": {Imported{Scheme: HMAC, Hash: "sha256", Rounds: 1, Secret: []byte("Jefe"), Salt: []byte("what do ya want "),
			Key: unhex(t, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")}, "for nothing?"},
		"sha256, FIPS 180-2 B.1": {Imported{Scheme: Digest, Hash: "sha256", Rounds: 1, Salt: []byte("a"),
			Key: unhex(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")}, "bc"},
		"md5, RFC 1321 A.5, salt last": {Imported{Scheme: Digest, Hash: "md5", Rounds: 1, SaltLast: true, Salt: []byte(" digest"),
			Key: unhex(t, "f96b697d7cb7938d525a2f31aaf161d0")}, "message"},
		"firebase-scrypt, its description": {NewFirebaseScrypt(
			unbase64(t, "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="),
			append(unbase64(t, "42xEC+ixf3L2lw=="), unbase64(t, "Bw==")...), 8, 14,
			unbase64(t, "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==")), "user1password"},
	}
}

func TestImportedHashes(t *testing.T) {
	p := New(cheap)
	for name, test := range knownHashes(t) {
		stored := test.String()
		if strings.Contains(stored, test.password) && test.Scheme != Digest {
			t.Errorf("%s: stored as %s", name, stored)
		}
		for password, want := range map[string]bool{test.password: true, test.password + "x": false, "": false} {
			ok, rehash, err := p.Verify(t.Context(), stored, password)
			if ok != want || rehash != want || err != nil {
				t.Errorf("%s, password %q: ok %v, rehash %v, %v", name, password, ok, rehash, err)
			}
		}
	}
}

// TestImportedForms verifies that a password matches as it was typed before, and in NFC.
func TestImportedForms(t *testing.T) {
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	hash := func(password string) Imported {
		h := NewPBKDF2("sha256", 1, []byte("salt"), make([]byte, 32))
		key, err := h.derive([]byte(password))
		if err != nil {
			t.Fatal(err)
		}
		h.Key = key
		return h
	}
	for _, test := range []struct {
		hashed, typed string
		want          bool
	}{
		{composed, composed, true}, {decomposed, decomposed, true}, {composed, decomposed, true}, {decomposed, composed, false},
	} {
		if got := hash(test.hashed).matches(test.typed); got != test.want {
			t.Errorf("%+q hashed, %+q typed: %v", test.hashed, test.typed, got)
		}
	}
}

func TestImportedLimits(t *testing.T) {
	key := make([]byte, 32)
	pbkdf2 := func(hash string, rounds int) Imported { return NewPBKDF2(hash, rounds, key, key) }
	scrypt := func(n, r, p int) Imported {
		return Imported{Scheme: Scrypt, Memory: n, Rounds: r, Parallelism: p, Salt: key, Key: key}
	}
	argon := func(m, t, p int) Imported {
		return Imported{Scheme: Argon2id, Memory: m, Rounds: t, Parallelism: p, Salt: key, Key: key}
	}
	tests := map[string]struct {
		h     Imported
		valid bool
	}{
		"pbkdf2 at the limit":    {pbkdf2("sha256", maxPBKDF2Rounds), true},
		"pbkdf2 above it":        {pbkdf2("sha256", maxPBKDF2Rounds+1), false},
		"pbkdf2 without rounds":  {pbkdf2("sha256", 0), false},
		"an unknown function":    {pbkdf2("md4", 1), false},
		"scrypt of 128 MiB":      {scrypt(17, 8, 1), true},
		"scrypt of 1 GiB":        {scrypt(20, 8, 1), false},
		"scrypt with a huge r":   {scrypt(1, 1<<30, 1), false},
		"scrypt with N overflow": {scrypt(64, 1, 1), false},
		"argon2 at the limit":    {argon(maxMemoryKiB, 4, 1), true},
		"argon2 above it":        {argon(maxMemoryKiB, 5, 1), false},
		"argon2 of 2^32 KiB":     {argon(1<<32, 1, 1), false},
		"argon2 of 257 lanes":    {argon(65536, 1, 257), false},
		"bcrypt of cost 14":      {Imported{Scheme: Bcrypt, Text: "$2b$14$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"}, true},
		"bcrypt of cost 15":      {Imported{Scheme: Bcrypt, Text: "$2b$15$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"}, false},
		"a short bcrypt":         {Imported{Scheme: Bcrypt, Text: "$2b$10$CCCC"}, false},
		"no key":                 {Imported{Scheme: Digest, Hash: "sha1", Rounds: 1}, false},
		"a salt of 2 KiB":        {NewPBKDF2("sha1", 1, make([]byte, 2048), key), false},
		"a wrong signer key":     {NewFirebaseScrypt(key[:16], key, 8, 14, key), false},
	}
	p := New(cheap)
	for name, test := range tests {
		err := test.h.Check()
		if (err == nil) != test.valid {
			t.Errorf("%s: %v", name, err)
		}
		if test.valid {
			if back, known, err := parseImported(test.h.String()); !known || err != nil || back.String() != test.h.String() {
				t.Errorf("%s: read back as %v, %v", name, known, err)
			}
			continue
		}
		if _, _, err := p.Verify(t.Context(), test.h.String(), "x"); err == nil {
			t.Errorf("%s: verified", name)
		}
	}
}

// TestWrongPasswordsTakeEqualLong verifies that wrong passwords of all users take at least as long as
// the slowest hash.
func TestWrongPasswordsTakeEqualLong(t *testing.T) {
	p := New(cheap)
	own := hashOf(t, p, "right")
	slow := NewPBKDF2("sha256", 200_000, []byte("salt"), make([]byte, 32)).String()
	fast := Imported{Scheme: Digest, Hash: "sha1", Rounds: 1, Key: make([]byte, 20)}.String()
	if _, _, err := p.Verify(t.Context(), own, "wrong"); err != nil || p.times.longest(time.Now()) != 0 {
		t.Errorf("a pool without imported hashes waits: %v, %v", p.times.longest(time.Now()), err)
	}
	if _, _, err := p.Verify(t.Context(), slow, "wrong"); err != nil {
		t.Fatal(err)
	}
	for name, stored := range map[string]string{"own": own, "fast": fast, "none": ""} {
		least := p.times.longest(time.Now())
		begun := time.Now()
		ok, _, err := p.Verify(t.Context(), stored, "wrong")
		if took := time.Since(begun); ok || err != nil || took < least {
			t.Errorf("%s: ok %v, %v after %v, want at least %v", name, ok, err, took, least)
		}
	}
}

func TestVerifyWithoutAHash(t *testing.T) {
	p := New(cheap)
	for _, typed := range []string{"", "right"} {
		if ok, rehash, err := p.Verify(t.Context(), "", typed); ok || rehash || err != nil {
			t.Errorf("%q: ok %v, rehash %v, %v", typed, ok, rehash, err)
		}
	}
}

// FuzzParseImported verifies that a stored hash has one form, and is either rejected or cheap.
func FuzzParseImported(f *testing.F) {
	for _, h := range knownHashes(f) {
		f.Add(h.String())
	}
	f.Add("$2b$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")
	f.Add("$scrypt$h=-,i=99999999,m=63,p=1,o=0$$$AAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		h, known, err := parseImported(text)
		if known && err == nil && (h.String() != text || h.Check() != nil) {
			t.Errorf("%q was read as %q, %v", text, h.String(), h.Check())
		}
	})
}
