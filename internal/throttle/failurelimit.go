package throttle

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Failures counts failed guesses in the store, where they outlive the process and all
// instances count together.
type Failures interface {
	// FailedGuesses returns how many guesses have failed in a row.
	FailedGuesses(ctx context.Context, digest []byte) (int, error)
	// AddFailedGuess counts one more. It reports false, and counts nothing, if there
	// are as many as the limit already.
	AddFailedGuess(ctx context.Context, f schemas.FailedGuess) (bool, error)
}

// failureLimit is how many guesses at a secret may fail in a row: by strangers, and by
// everybody without a known device, including networks that signed in to the account
// before. Those networks so have a few guesses left when strangers have none.
type failureLimit struct{ strangers, networks int }

// limits of an account add up to 100 (NIST SP 800-63B-4 §3.2.2). What is typed beside a
// name, or mailed to one, is counted by the name, and an account has a name for each
// identifying attribute: to count by the account would tell which names are one
// user's.
func limits() map[schemas.GuessedSecret]failureLimit {
	return map[schemas.GuessedSecret]failureLimit{
		schemas.NameSecret:   {strangers: 22, networks: 28},
		schemas.MailedSecret: {strangers: 10, networks: 14},
		schemas.FactorSecret: {strangers: 12, networks: 16},
		// Of an address that has no account, and per day: nobody could sign in to start
		// the count again.
		schemas.AddressSecret: {strangers: 15, networks: 20},
	}
}

// deviceLimit is how many guesses may fail in a row on a device that signed in to the
// account before.
const deviceLimit = 50

// counter is what a guess is counted by in the store.
type counter struct {
	digest  []byte
	limit   int
	eventAt int    // how many failures the audit log tells of
	by      string // who has no guesses left then
}

// counterOf returns what an admitted guess is counted by, nil for what can be nobody's
// name.
func (t *Throttle) counterOf(a *Attempt, g schemas.Guess) *counter {
	name := schemas.IdentifierKey(g.Name)
	if t.failures == nil || name == "" {
		return nil
	}
	c := &counter{}
	switch most := limits()[g.Secret]; a.bill {
	case billDevice:
		c.limit, c.eventAt, c.by = deviceLimit, deviceLimit, "a known browser"
		name = fmt.Sprintf("%x", a.Device)
	case billFamiliar:
		c.limit, c.eventAt, c.by = most.networks, most.strangers, "strangers"
	default:
		c.limit, c.eventAt, c.by = most.strangers, most.strangers, "strangers"
	}
	day := ""
	if g.Secret == schemas.AddressSecret {
		day = t.now().UTC().Format(time.DateOnly)
	}
	mac := hmac.New(sha256.New, t.digestKey)
	fmt.Fprintf(mac, "%t\x00%s\x00%s\x00%s\x00%s", a.bill == billDevice, g.Secret, g.UserID, day, name)
	c.digest = mac.Sum(nil)
	return c
}

// isUnderLimit refuses a guess whose counter is at the limit.
func (t *Throttle) isUnderLimit(ctx context.Context, c *counter) error {
	if c == nil {
		return nil
	}
	n, err := t.failures.FailedGuesses(ctx, c.digest)
	if err == nil && n >= c.limit {
		return exhausted()
	}
	return err
}

// settle decides whether a guess that was checked may be answered. A wrong one is
// counted first, and a right one needs a counter below the limit as well. So of any
// number of guesses that are checked at once, on all instances, no more are answered
// than one after the other would be, and no right one costs a write.
func (t *Throttle) settle(ctx context.Context, c *counter, g schemas.Guess, right bool) error {
	if c == nil || right {
		return t.isUnderLimit(ctx, c)
	}
	e := g.Event
	e.Detail = map[string]string{"secret": string(g.Secret), "by": c.by}
	// A client that goes away does not spare itself the count.
	counted, err := t.failures.AddFailedGuess(context.WithoutCancel(ctx), schemas.FailedGuess{
		Digest: c.digest, Secret: g.Secret, UserID: g.UserID, Limit: c.limit, At: t.now().UTC(), Event: e, EventAt: c.eventAt,
	})
	if err == nil && !counted {
		return exhausted()
	}
	return err
}

// retryExhausted is when a client may try again that has no other way: time alone does
// not help.
const retryExhausted = time.Hour

// exhausted is the error of a guess at an account whose limit is reached. It is the
// same for accounts that do not exist.
func exhausted() error {
	err := schemas.Errorf(schemas.Throttled, CodeTooManyRequests,
		"too many sign-ins to this account have failed in a row. Sign in with a passkey, or with a browser that was used for this account before, "+
			"or ask an administrator to allow more")
	err.RetryAfter = retryExhausted
	return err
}
