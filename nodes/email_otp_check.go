package nodes

import (
	"cmp"
	"context"
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

// newCode returns a uniformly random code with the given number of decimal digits.
func newCode(digits int) string {
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	n := must(rand.Int(rand.Reader, most)) // crypto/rand.Read never fails
	return fmt.Sprintf("%0*d", digits, n)
}

// codeMAC binds a code to the run, the user and the address. It is keyed, because a plain hash of a
// short code reveals it.
func (d Deps) codeMAC(v *engine.Visit, user *schemas.User, address, code string) []byte {
	id := ""
	if user != nil {
		id = user.ID
	}
	mac := hmac.New(sha256.New, d.DecoySecret)
	fmt.Fprintf(mac, "code by mail\x00%s\x00%s\x00%s\x00%s", v.ExecutionID, id, schemas.IdentifierKey(address), code)
	return mac.Sum(nil)
}

// mailAccount returns the account for counting mails and guesses, and the kind of its secret: a user
// that the run creates has only an address, and no account to lock yet.
func mailAccount(v *engine.Visit, address string) (string, schemas.GuessedSecret) {
	if v.Subject.Draft != nil {
		return address, schemas.AddressSecret
	}
	return nameOf(v), schemas.MailedSecret
}

// trustedName returns the name of an application that an administrator trusts. The server's mail
// does not contain names that untrusted clients chose.
func trustedName(app *schemas.Application) string {
	if app == nil || !app.IsTrusted() {
		return ""
	}
	return app.Name
}

// check compares the entered code with the code that was sent.
func (o *emailOTP) check(ctx context.Context, v *engine.Visit, sent *sentCode, typed string) (*engine.Decision, error) {
	if !v.Now.Before(sent.ExpiresAt) {
		return o.ask(sent, "This code has expired. Request a new one."), nil
	}
	to, user, err := o.address(ctx, v)
	if err != nil {
		return nil, err
	}
	account, secret := mailAccount(v, to)
	right, err := o.deps.guess(ctx, guessOf(v, secret, account), func() (bool, error) {
		return user != nil && to != "" && hmac.Equal(sent.MAC, o.deps.codeMAC(v, user, to, typed)), nil
	})
	switch {
	case err != nil:
		return nil, err
	case right:
		return o.succeed(v, user), nil
	}
	var d *engine.Decision
	if sent.Tries++; sent.Tries < maxTries {
		d = o.ask(sent, wrongCode(maxTries-sent.Tries))
		d.Failed = true
	} else {
		d = leaveFailed(schemas.Errorf(schemas.Invalid, schemas.CodeInvalidCode, "too many incorrect codes; request a new one"))
	}
	d.Reason = cmp.Or(notMailed(user, to), schemas.ReasonWrongMailedCode)
	return d, nil
}

// wrongCode states how many tries are left.
func wrongCode(left int) string {
	if left == 1 {
		return "Incorrect code. You have one attempt left."
	}
	return fmt.Sprintf("Incorrect code. You have %d attempts left.", left)
}

// succeed leaves with a verified address: in the draft of a user that is not stored yet, otherwise
// with a change that checks again that the user still has the address.
func (o *emailOTP) succeed(v *engine.Visit, user *schemas.User) *engine.Decision {
	d := leaveProven(v, []string{schemas.AMREmail}, schemas.ACRVouched, schemas.Provenance{}, schemas.ProofOfEmail(user.Text("email")),
		proof(v, "email_code.used", user.ID, nil))
	if v.Subject.Draft != nil {
		d.Subject = redrafted(v, user, map[string]any{schemas.EmailVerified: true})
		return d
	}
	d.Changes = append(d.Changes, schemas.VerifyEmail{UserID: user.ID, Email: user.Text("email"), At: v.Now})
	return d
}
