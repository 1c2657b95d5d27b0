package passkey

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
)

// maxNameBytes is the length of a name that authenticators must support (§6.4.1.2); they can cut
// longer ones anywhere.
const maxNameBytes = 64

// maxTransports limits the stored transports of a credential.
const maxTransports = 8

// AuthenticatorName returns the name of a widely known authenticator or
// passkey manager by its AAGUID (UUID text), or "".
func AuthenticatorName(aaguid string) string {
	return authenticators[strings.ToLower(aaguid)]
}

// authenticators names AAGUIDs that their makers publish.
var authenticators = map[string]string{
	"ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4": "Google Password Manager",
	"adce0002-35bc-c60a-648b-0b25f1f05503": "Chrome on Mac",
	"fbfc3007-154e-4ecc-8c0b-6e020557d7bd": "Apple Passwords",
	"dd4ec289-e01d-41c9-bb89-70fa845d4bf2": "iCloud Keychain (managed)",
	"08987058-cadc-4b81-b6e1-30de50dcbe96": "Windows Hello",
	"9ddd1817-af5a-4672-a2b9-3e3dd95000a9": "Windows Hello",
	"6028b017-b1d4-4c02-b4b3-afcdafc96bb2": "Windows Hello",
	"53414d53-554e-4700-0000-000000000000": "Samsung Pass",
	"bada5566-a7aa-401f-bd96-45619a55120d": "1Password",
	"d548826e-79b4-db40-a3d8-11116f7e8349": "Bitwarden",
	"531126d6-e717-415c-9320-3d9aa6981239": "Dashlane",
	"50726f74-6f6e-5061-7373-50726f746f6e": "Proton Pass",
	"fdb141b2-5d84-443e-8a35-4698c205a502": "KeePassXC",
	"ee882879-721c-4913-9775-3dfcce97072a": "YubiKey 5",
	"2fc0579f-8113-47ea-b116-bb5a8db9202a": "YubiKey 5 NFC",
}

// displayText makes a name safe to show: one line of printable characters, without invisible ones
// that reorder or hide text, at most limit bytes.
func displayText(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return -1
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsGraphic(r):
			return r
		}
		return -1
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	for len(s) > limit {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return strings.TrimSpace(s)
}

// userEntity describes the user to the authenticator (§5.4.3). A user without names is called
// User: the id is not a name.
func userEntity(u User) protocol.UserEntity {
	name, display := displayText(u.Name, maxNameBytes), displayText(u.DisplayName, maxNameBytes)
	name = cmp.Or(name, display, "User")
	return protocol.UserEntity{
		CredentialEntity: protocol.CredentialEntity{Name: name},
		DisplayName:      cmp.Or(display, name),
		ID:               protocol.URLEncodedBase64(u.ID),
	}
}

// transports returns the possible transports (§5.8.4), unknown ones included, of the client's
// unsigned list.
func transports(said []string) []string {
	var list []string
	for _, t := range said {
		odd := strings.ContainsFunc(t, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') })
		if t == "" || len(t) > 32 || odd || slices.Contains(list, t) || len(list) == maxTransports {
			continue
		}
		list = append(list, t)
	}
	return list
}
