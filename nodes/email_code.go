package nodes

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// sentCode is what a node keeps of a code that it has sent, so little that who reads
// the store does not learn the code. The zero value is none: nothing matches it.
type sentCode struct {
	MAC       []byte    `json:"mac,omitempty"`
	Tries     int       `json:"tries,omitempty"`
	SentAt    time.Time `json:"sentAt,omitzero"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

func readSentCode(kept json.RawMessage) (*sentCode, error) {
	sent := &sentCode{}
	if err := json.Unmarshal(kept, sent); err != nil {
		return nil, fmt.Errorf("what was kept of a code: %w", err)
	}
	return sent, nil
}

func (s *sentCode) marshal() (json.RawMessage, error) { return json.Marshal(s) }

// withMAC returns s with the code.
func (s *sentCode) withMAC(mac []byte) *sentCode {
	s.MAC = mac
	return s
}

// matches compares in constant time.
func (s *sentCode) matches(mac []byte) bool { return len(s.MAC) > 0 && hmac.Equal(s.MAC, mac) }

// newCode makes a code of so many decimal digits, each as likely as any other.
func newCode(digits int) string {
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	n, err := rand.Int(rand.Reader, most)
	if err != nil {
		panic(err) // never fails: see crypto/rand.Read
	}
	return fmt.Sprintf("%0*d", digits, n)
}

// mac binds a code to the run, the user and the address that it was sent to. It is
// keyed: the hash alone of so short a code tells it.
func (o *emailOTP) mac(v *engine.Visit, user *schemas.User, address, code string) []byte {
	id := ""
	if user != nil {
		id = user.ID
	}
	mac := hmac.New(sha256.New, o.deps.DecoySecret)
	fmt.Fprintf(mac, "code by mail\x00%s\x00%s\x00%s\x00%s", v.ExecutionID, id, schemas.IdentifierKey(address), code)
	return mac.Sum(nil)
}

// mailAccount is by what name mails and guesses are counted. Somebody who is made by
// the run has none yet but the address.
func mailAccount(v *engine.Visit, address string) string {
	if v.Subject.Draft != nil {
		return address
	}
	return nameOf(v)
}

// trustedName is what an application is called, where an administrator says so: what
// others call themselves must not speak to people in our name.
func trustedName(app *schemas.Application) string {
	if app == nil || !app.IsTrusted() {
		return ""
	}
	return app.Name
}
