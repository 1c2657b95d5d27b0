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

// Period is the duration of a time step. Authenticator apps support no other.
const Period = 30 * time.Second

// Window is how many steps the clock of an app may be ahead or behind (RFC 6238
// §5.2).
const Window = 1

// secretSize is the size of a secret in bytes: RFC 4226 §4, R6.
const secretSize = 20

// The algorithms of a key. Every app supports SHA1, which is the default; its collisions do not
// weaken an HMAC (RFC 4226, Appendix B).
const (
	SHA1   = "SHA1"
	SHA256 = "SHA256"
	SHA512 = "SHA512"
)

// Key is the secret that an app and the server share, with its parameters.
type Key struct {
	Secret    string `json:"secret"`    // base32 without padding
	Algorithm string `json:"algorithm"` // SHA1, SHA256 or SHA512
	Digits    int    `json:"digits"`    // of a code
}

// New returns a new key. Some apps support only SHA1 and 6 digits; they accept other keys but show
// wrong codes.
func New(algorithm string, digits int) Key {
	secret := make([]byte, secretSize)
	rand.Read(secret) // never fails
	return Key{Secret: base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret), Algorithm: algorithm, Digits: digits}
}

// Step is the time step of a moment: RFC 6238 §4.2.
func Step(at time.Time) int64 { return at.Unix() / int64(Period/time.Second) }

// Code returns the code that an app shows at a time.
func (k Key) Code(at time.Time) (string, error) { return k.code(Step(at)) }

// Verify returns the time step of a code, and reports whether an app may show that code now. It
// rejects codes of the last used step and earlier ones.
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

// URI returns the key as a URI for apps, in the format of Google Authenticator, which all apps
// support. Issuer is the name of the server, and account the name of the user; apps show both.
func (k Key) URI(issuer, account string) string {
	issuer = strings.ReplaceAll(issuer, ":", " ") // it ends the issuer
	query := fmt.Sprintf("secret=%s&issuer=%s&algorithm=%s&digits=%d&period=%d",
		k.Secret, escape(issuer), k.Algorithm, k.Digits, Period/time.Second)
	return "otpauth://totp/" + escape(issuer) + ":" + escape(account) + "?" + query
}

// escape writes a blank as %20: apps do not decode a plus sign.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
