package password

import (
	"strings"
	"testing"
)

const (
	salt16 = "c29tZXNhbHRzb21lc2FsdA"                      // "somesaltsomesalt"
	key32  = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI" // 32 digits
	prefix = "$argon2id$v=19$"
)

func TestParsePHC(t *testing.T) {
	good := prefix + "m=19456,t=2,p=1$" + salt16 + "$" + key32
	h, err := parsePHC(good)
	if err != nil {
		t.Fatal(err)
	}
	if h.params != (params{19456, 2, 1}) || string(h.salt) != "somesaltsomesalt" || len(h.key) != 32 {
		t.Errorf("parsed %+v", h)
	}
	if h.String() != good {
		t.Errorf("written as %s", h)
	}
}

func TestParsePHCRefuses(t *testing.T) {
	tail := "$" + salt16 + "$" + key32
	tests := map[string]struct{ phc, want string }{
		"empty":               {"", "expected $argon2id"},
		"another algorithm":   {"$argon2i$v=19$m=19456,t=2,p=1" + tail, "expected $argon2id"},
		"bcrypt":              {"$2b$12$abcdefghijklmnopqrstuv", "expected $argon2id"},
		"another version":     {"$argon2id$v=16$m=19456,t=2,p=1" + tail, "expected $argon2id"},
		"no version":          {"$argon2id$m=19456,t=2,p=1" + tail, "expected $argon2id"},
		"something before":    {"x" + prefix + "m=19456,t=2,p=1" + tail, "expected $argon2id"},
		"something after":     {prefix + "m=19456,t=2,p=1" + tail + "$x", "expected $argon2id"},
		"parameter missing":   {prefix + "m=19456,t=2" + tail, "expected $argon2id"},
		"parameters swapped":  {prefix + "t=2,m=19456,p=1" + tail, "expected $argon2id"},
		"sign":                {prefix + "m=+19456,t=2,p=1" + tail, "expected $argon2id"},
		"leading zero":        {prefix + "m=019456,t=2,p=1" + tail, "expected $argon2id"},
		"too big to count":    {prefix + "m=4294967296,t=2,p=1" + tail, "expected $argon2id"},
		"terabytes":           {prefix + "m=4294967295,t=2,p=1" + tail, "is not within"},
		"no memory":           {prefix + "m=0,t=2,p=1" + tail, "is not within"},
		"memory below 8p":     {prefix + "m=31,t=2,p=4" + tail, "is not within"},
		"forever":             {prefix + "m=8,t=4294967295,p=1" + tail, "is not within"},
		"no iteration":        {prefix + "m=19456,t=0,p=1" + tail, "is not within"},
		"product over bounds": {prefix + "m=262144,t=64,p=1" + tail, "is over"},
		"no lane":             {prefix + "m=19456,t=2,p=0" + tail, "is not within"},
		"lanes wrap around":   {prefix + "m=19456,t=2,p=257" + tail, "expected $argon2id"},
		"salt too short":      {prefix + "m=19456,t=2,p=1$c2FsdA$" + key32, "salt has 4 bytes"},
		"salt too long":       {prefix + "m=19456,t=2,p=1$" + strings.Repeat("A", 200) + "$" + key32, "salt has 150 bytes"},
		"key too short":       {prefix + "m=19456,t=2,p=1$" + salt16 + "$c2FsdA", "key has 4 bytes"},
		"key empty":           {prefix + "m=19456,t=2,p=1$" + salt16 + "$", "key has 0 bytes"},
		"padded":              {prefix + "m=19456,t=2,p=1$" + salt16 + "==$" + key32, "expected $argon2id"},
		"line break":          {prefix + "m=19456,t=2,p=1$" + salt16 + "\n$" + key32, "expected $argon2id"},
		"loose last bits":     {prefix + "m=19456,t=2,p=1$" + salt16[:21] + "B$" + key32, "expected $argon2id"},
		"base64url":           {prefix + "m=19456,t=2,p=1$" + salt16 + "$" + strings.Repeat("-", 43), "expected $argon2id"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parsePHC(test.phc)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want an error with %q", err, test.want)
			}
			if strings.Contains(err.Error(), key32) || strings.Contains(err.Error(), salt16) {
				t.Errorf("the error gives the hash away: %v", err)
			}
		})
	}
}

// FuzzParsePHC checks that accepted hashes are within bounds and have exactly one
// spelling.
func FuzzParsePHC(f *testing.F) {
	f.Add(prefix + "m=19456,t=2,p=1$" + salt16 + "$" + key32)
	f.Add(prefix + "m=4294967295,t=4294967295,p=255$" + salt16 + "$" + key32)
	f.Add("$2b$12$abcdefghijklmnopqrstuv")
	f.Add("$$$$$")
	f.Fuzz(func(t *testing.T, s string) {
		h, err := parsePHC(s)
		if err != nil {
			return
		}
		if h.String() != s {
			t.Errorf("%q is written as %q", s, h)
		}
		if err := h.check(); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	})
}
