package store

import (
	"strings"

	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/norm"
)

// maxIdentifier is the longest value a user can be found by, in bytes. An
// e-mail address has at most 254; an index entry of PostgreSQL 2,700.
const maxIdentifier = 1024

// identifierKey is the form in which identifying attributes are compared: the
// UsernameCaseMapped profile of PRECIS (RFC 8265 §3.3), so that neither case nor
// width nor composition makes a second "Ann". White space around a value does
// not count. A value that the profile refuses (one with spaces inside, say) is
// lower-cased and composed. It reports false for a value that no user can have.
func identifierKey(value string) (string, bool) {
	value = strings.TrimSpace(value)
	if value == "" || len(value) > maxIdentifier || !storable(value) {
		return "", false
	}
	key, err := precis.UsernameCaseMapped.String(value)
	if err != nil {
		key = norm.NFC.String(strings.ToLower(norm.NFC.String(value)))
	}
	return key, key != "" && len(key) <= maxIdentifier // lower case may be longer
}
