package schemas

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// androidPrefix begins the origin of a ceremony in an Android app.
const androidPrefix = "android:apk-key-hash:"

// IsAndroidOrigin reports whether a text is meant as the origin of an Android app: that of its ceremonies is the
// SHA-256 of the certificate that signed it, in base64url without padding. Apps of Apple's systems have the
// https origin of their associated domain.
func IsAndroidOrigin(text string) bool { return strings.HasPrefix(strings.ToLower(text), "android:") }

// AndroidOriginFault returns what is wrong with the origin of an Android app; "" if it is valid.
func AndroidOriginFault(text string) string {
	hash, ok := strings.CutPrefix(text, androidPrefix)
	sum, err := base64.RawURLEncoding.Strict().DecodeString(hash)
	if !ok || err != nil || len(sum) != sha256.Size || strings.ContainsAny(hash, "\r\n") {
		return "expected " + androidPrefix + " and the SHA-256 of the app's signing certificate in base64url without padding (43 characters)"
	}
	return ""
}
