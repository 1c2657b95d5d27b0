package nodes

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// sentCode is what a node stores about a code that it sent. A reader of the store does not learn
// the code from it. The zero value matches nothing.
type sentCode struct {
	MAC       []byte    `json:"mac,omitempty"`
	Tries     int       `json:"tries,omitempty"`
	SentAt    time.Time `json:"sentAt,omitzero"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// matches compares in constant time.
func (s *sentCode) matches(mac []byte) bool { return len(s.MAC) > 0 && hmac.Equal(s.MAC, mac) }

// newCode returns a uniformly random code with the given number of decimal digits.
func newCode(digits int) string {
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	n := must(rand.Int(rand.Reader, most)) // crypto/rand.Read never fails
	return fmt.Sprintf("%0*d", digits, n)
}

// mac binds a code to the run, the user and the address. It is keyed, because a plain hash of a
// short code reveals it.
func (o *emailOTP) mac(v *engine.Visit, user *schemas.User, address, code string) []byte {
	id := ""
	if user != nil {
		id = user.ID
	}
	mac := hmac.New(sha256.New, o.deps.DecoySecret)
	fmt.Fprintf(mac, "code by mail\x00%s\x00%s\x00%s\x00%s", v.ExecutionID, id, schemas.IdentifierKey(address), code)
	return mac.Sum(nil)
}

// mailAccount returns the account for counting mails and guesses: the address for a user that
// the run creates.
func mailAccount(v *engine.Visit, address string) string {
	if v.Subject.Draft != nil {
		return address
	}
	return nameOf(v)
}

// trustedName returns the name of an application that an administrator trusts. The server's mail
// does not contain names that untrusted clients chose.
func trustedName(app *schemas.Application) string {
	if app == nil || !app.IsTrusted() {
		return ""
	}
	return app.Name
}
