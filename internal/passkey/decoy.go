package passkey

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// listShape describes how the credentials of a kind of authenticator look in a list.
type listShape struct {
	length     int // of the id, in bytes
	transports []string
}

// listShapes are those of common authenticators, weighted by frequency: password managers, phones,
// Windows Hello and security keys.
func listShapes() []listShape {
	phone, manager := listShape{20, []string{"hybrid", "internal"}}, listShape{16, []string{"hybrid", "internal"}}
	return []listShape{phone, phone, phone, manager, manager, manager, {32, []string{"hybrid", "internal", "nfc", "usb"}}, {64, []string{"nfc", "usb"}}}
}

// Decoys returns the credentials to list for an unknown name, or for a user without a passkey: one
// to three that look like those of common authenticators, are the same for each request with the
// name, and cannot be predicted without the secret. Letter case and surrounding spaces of the name
// make no difference.
//
// The secret must last as long as the server's data: a decoy that changes is recognizable. Use at
// least 32 random bytes, the same on every instance.
func Decoys(secret []byte, name string) []schemas.Credential {
	name = strings.ToLower(strings.TrimSpace(name))
	choice := deriveBytes(secret, "choice\x00"+name)
	count := 1 // for three quarters of the names
	if choice[0] < 64 {
		count = 2 + int(choice[1]&1)
	}
	list := make([]schemas.Credential, count)
	for i := range list {
		kinds := listShapes()
		kind := kinds[int(choice[2+i])%len(kinds)]
		text := strconv.Itoa(i) + "\x00" + name
		id := append(deriveBytes(secret, "first\x00"+text), deriveBytes(secret, "second\x00"+text)...)
		list[i] = schemas.Credential{ID: id[:kind.length], Transports: kind.transports}
	}
	return list
}

// deriveBytes derives 32 pseudorandom bytes from a secret and a text.
func deriveBytes(secret []byte, text string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("passkey decoy\x00" + text))
	return mac.Sum(nil)
}

// decoyKey is the public key with which answers to decoys are verified, so that this takes the
// usual time. It is the generator of P-256, whose private key is 1. Anyone can sign for it; that
// does not matter, because a decoy fails with any signature.
func decoyKey() schemas.Bytes {
	key, _ := hex.DecodeString("a5010203262001" +
		"2158206b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296" +
		"2258204fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
	return key
}
