package password

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/postern-id/postern/schemas"
)

// Lengths of new passwords in characters (NIST SP 800-63B-4 §3.1.1.2).
const (
	// DefaultMinimum is for a password that can be all a user signs in with.
	DefaultMinimum = 15
	// FactorMinimum is for a password beside a second factor, and the lowest
	// minimum that any configuration can set.
	FactorMinimum = 8
	// Maximum bounds what a sign-in hashes.
	Maximum = 128
)

// Policy decides which passwords users may set. Every way to set a password asks
// it: flows, the API, seed files and the first administrator. The zero value is
// the default policy.
//
// There are no rules about the characters that a password must contain: NIST SP
// 800-63B-4 §3.1.1.2 forbids them. A password is refused if it is short, or if
// an attacker who knows what everybody uses, and who the user is, would soon
// guess it: see guessability.
type Policy struct {
	// Minimum is the least number of characters of a password that can be all a
	// user signs in with. Zero means DefaultMinimum.
	Minimum int
	// Service is what the server is called. It counts against passwords.
	Service string
}

// Choice is a new password, and what an attacker knows who guesses it.
type Choice struct {
	Password string
	User     *schemas.User // whose password it becomes
	// Application is the name of the application that asks for it, "" for none.
	Application string
	// Minimum is another least length, as a flow may have one. Zero means that of the
	// policy. Below DefaultMinimum it is only for callers with proof of a second factor.
	Minimum int
}

// Check returns what is wrong with a new password and how to choose a better one,
// in words for the person who chose it; "" if the password is good.
func (p Policy) Check(c Choice) string {
	password := norm.NFC.String(c.Password)
	length, least := utf8.RuneCountInString(password), p.minimum(c.Minimum)
	switch {
	case password == "":
		return "This is required."
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return "This is not valid text. Type the password again."
	case length < least:
		return fmt.Sprintf("Use at least %d characters; a few words are easier to remember.", least)
	case length > Maximum:
		return fmt.Sprintf("Use at most %d characters.", Maximum)
	case guessability(password, append(textsOf(c.User), c.Application, p.Service)) < minGuessability:
		return "This password is easy to guess: it is common, or made of common passwords, of names of yours or of repetitions. " +
			"Choose another; a few unrelated words are good."
	}
	return ""
}

// minimum is the least length where a caller has asked for one. A caller with proof
// of a second factor may go below the policy's minimum; any other only above it.
func (p Policy) minimum(asked int) int {
	least := p.Minimum
	if least == 0 {
		least = DefaultMinimum
	}
	if asked == 0 || asked >= DefaultMinimum && asked < least {
		return least
	}
	return max(asked, FactorMinimum)
}

// textsOf are the texts that are known of a user: names, addresses and all other
// attributes.
func textsOf(u *schemas.User) (texts []string) {
	if u == nil {
		return nil
	}
	for _, value := range u.Attributes {
		if text, ok := value.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
