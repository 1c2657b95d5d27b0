package totp

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
)

// Period is how long a code is shown. Authenticator apps know of no other.
const Period = 30 * time.Second

// Window is how many steps the clock of an app may be ahead or behind (RFC 6238
// §5.2).
const Window = 1

// secretSize is that of a secret in bytes: RFC 4226 §4, R6.
const secretSize = 20

// The algorithms of a key. Every app knows SHA1, which is the default; its
// collisions do no harm to an HMAC (RFC 4226, Appendix B).
const (
	SHA1   = "SHA1"
	SHA256 = "SHA256"
	SHA512 = "SHA512"
)

// Key is what an app and the server share.
type Key struct {
	Secret    string `json:"secret"`    // base32 without padding
	Algorithm string `json:"algorithm"` // SHA1, SHA256 or SHA512
	Digits    int    `json:"digits"`    // of a code
}

// New makes a key. Not every app knows another algorithm than SHA1, or other
// than 6 digits; such an app takes the key and shows codes that are wrong.
func New(algorithm string, digits int) Key {
	secret := make([]byte, secretSize)
	rand.Read(secret) // never fails
	return Key{Secret: base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret), Algorithm: algorithm, Digits: digits}
}

// Step is the time step of a moment: RFC 6238 §4.2.
func Step(at time.Time) int64 { return at.Unix() / int64(Period/time.Second) }

// Code is what an app shows at a moment.
func (k Key) Code(at time.Time) (string, error) { return k.code(Step(at)) }

// Verify reports whether the code is one that an app may show now, of a step
// after the last one that was used, and which.
func (k Key) Verify(code string, now time.Time, last int64) (step int64, ok bool, err error) {
	code = strings.ReplaceAll(strings.TrimSpace(code), " ", "") // apps show 123 456
	for step = Step(now) - Window; step <= Step(now)+Window; step++ {
		shown, err := k.code(step)
		if err != nil {
			return 0, false, err
		}
		if subtle.ConstantTimeCompare([]byte(shown), []byte(code)) == 1 && step > last {
			return step, true, nil
		}
	}
	return 0, false, nil
}

func (k Key) code(step int64) (string, error) {
	algorithm, known := map[string]otp.Algorithm{SHA1: otp.AlgorithmSHA1, SHA256: otp.AlgorithmSHA256, SHA512: otp.AlgorithmSHA512}[k.Algorithm]
	if !known || k.Digits < 6 || k.Digits > 8 || step < 0 {
		return "", fmt.Errorf("totp: a key of the algorithm %q and %d digits gives no codes", k.Algorithm, k.Digits)
	}
	code, err := hotp.GenerateCodeCustom(k.Secret, uint64(step), hotp.ValidateOpts{Algorithm: algorithm, Digits: otp.Digits(k.Digits)})
	if err != nil {
		return "", fmt.Errorf("totp: %w", err)
	}
	return code, nil
}

// URI is the key as apps take it: the format that Google Authenticator began and
// all others follow. Issuer is what the server is called, account whose key it is;
// apps show both.
func (k Key) URI(issuer, account string) string {
	issuer = strings.ReplaceAll(issuer, ":", " ") // it ends the issuer
	query := fmt.Sprintf("secret=%s&issuer=%s&algorithm=%s&digits=%d&period=%d",
		k.Secret, escape(issuer), k.Algorithm, k.Digits, Period/time.Second)
	return "otpauth://totp/" + escape(issuer) + ":" + escape(account) + "?" + query
}

// escape writes a blank as %20: apps show a plus sign for what it is.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
