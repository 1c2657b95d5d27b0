package password

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/postern-id/postern/schemas"
)

// Lengths of new passwords in characters (NIST SP 800-63B-4 §3.1.1.2).
const (
	// DefaultMinimum applies to a password that is sufficient for a sign-in.
	DefaultMinimum = 15
	// FactorMinimum applies to a password with a second factor, and is the lowest configurable
	// minimum.
	FactorMinimum = 8
	// Maximum limits what a sign-in hashes.
	Maximum = 128
)

// Policy decides which passwords users may set. It applies to every way to set a password: flows,
// the API, seed files and the first administrator. The zero value is the default policy.
//
// There are no rules about the characters of a password: NIST SP 800-63B-4 §3.1.1.2 forbids them.
// A password is rejected if it is short, or if an attacker who knows common passwords and the
// user's data would soon guess it: see guessability.
type Policy struct {
	// Minimum is the least number of characters of a password that is sufficient for a sign-in.
	// Zero means DefaultMinimum.
	Minimum int
	// Service is the server's name. Passwords must not be built from it.
	Service string
}

// Choice is a new password, with the data of the user that an attacker may know.
type Choice struct {
	Password string
	User     *schemas.User // the user of the password
	// Application is the name of the application, "" for none.
	Application string
	// Minimum is another minimum, as a flow can set. Zero means that of the policy. Only callers
	// with proof of a second factor can go below DefaultMinimum.
	Minimum int
	// Replaces is the hash of the password that the user replaces, "" for none. It is also "" if another
	// user sets the password, who must not learn what the user's password is.
	Replaces string
}

// Hasher hashes and verifies passwords: a [Pool].
type Hasher interface {
	Hash(ctx context.Context, password string) (phc string, err error)
	Verify(ctx context.Context, phc, password string) (ok, rehash bool, err error)
}

// Accept returns the hash of a new password, or what is wrong with it: see Check. A password that was
// changed because others know it must not be the former one.
func (p Policy) Accept(ctx context.Context, h Hasher, c Choice) (hash, fault string, err error) {
	if fault := p.Check(c); fault != "" {
		return "", fault, nil
	}
	if c.Replaces != "" {
		same, _, err := h.Verify(ctx, c.Replaces, c.Password)
		if same {
			return "", "This is your current password. Choose another one.", nil
		}
		// A stored hash that cannot be read must not prevent its replacement.
		if _, refused := errors.AsType[*schemas.Error](err); refused || ctx.Err() != nil {
			return "", "", err
		}
	}
	hash, err = h.Hash(ctx, c.Password)
	return hash, "", err
}

// Check returns what is wrong with a new password and how to choose a better one, as text for the
// user; "" if the password is acceptable.
func (p Policy) Check(c Choice) string {
	password := norm.NFC.String(c.Password)
	length, least := utf8.RuneCountInString(password), p.minimum(c.Minimum)
	switch {
	case password == "":
		return "This is required."
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return "This is not valid text. Type the password again."
	case length < least:
		return p.Rule(c.Minimum)
	case length > Maximum:
		return fmt.Sprintf("Use at most %d characters.", Maximum)
	case guessability(password, append(textsOf(c.User), c.Application, p.Service)) < minGuessability:
		return "This password is easy to guess: it is common, or consists of common passwords, your own names, or repetitions. " +
			"Choose another; a few unrelated words are good."
	}
	return ""
}

// Rule returns the rule about the length of a new password, as text for the user. minimum is that of
// Choice.
func (p Policy) Rule(minimum int) string {
	return fmt.Sprintf("Use at least %d characters; a few words are easier to remember.", p.minimum(minimum))
}

// minimum returns the minimum for a caller's setting. A caller with proof of a second factor can go
// below the policy's minimum; any other only above it.
func (p Policy) minimum(asked int) int {
	least := cmp.Or(p.Minimum, DefaultMinimum)
	if asked == 0 || asked >= DefaultMinimum && asked < least {
		return least
	}
	return max(asked, FactorMinimum)
}

// textsOf returns the texts that are known about a user: names, addresses and all other attributes.
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
