package throttle

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Failures counts failed guesses in the store, where the counts survive restarts and all
// instances share them.
type Failures interface {
	// FailedGuesses returns how many guesses have failed in a row.
	FailedGuesses(ctx context.Context, digest []byte) (int, error)
	// AddFailedGuess counts one more. It reports false, and counts nothing, if the limit is
	// already reached.
	AddFailedGuess(ctx context.Context, f schemas.FailedGuess) (bool, error)
}

// failureLimit is how many guesses at a secret may fail in a row: from unknown networks,
// and from all callers without a known device, which includes networks that signed in to
// the account before. Familiar networks thus have a few guesses left when unknown ones have
// none.
type failureLimit struct{ unknown, familiar int }

// limits are chosen so that those of an account add up to 100 (NIST SP 800-63B-4 §3.2.2).
// Secrets that are entered with a name, or mailed to an address, are counted by that name,
// and an account has a name for each identifying attribute: counting by account would
// reveal which names belong to one user.
func limits() map[schemas.GuessedSecret]failureLimit {
	return map[schemas.GuessedSecret]failureLimit{
		schemas.NameSecret:   {unknown: 22, familiar: 28},
		schemas.MailedSecret: {unknown: 10, familiar: 14},
		schemas.FactorSecret: {unknown: 12, familiar: 16},
		// Per day: no sign-in resets the count of an address without an account.
		schemas.AddressSecret: {unknown: 15, familiar: 20},
	}
}

// deviceLimit is how many guesses may fail in a row on a device that signed in to the
// account before.
const deviceLimit = 50

// counter identifies the counter of a guess in the store.
type counter struct {
	digest  []byte
	limit   int
	eventAt int    // number of failures at which the audit log gets an event
	by      string // the callers without guesses left at eventAt
}

// counterOf returns the counter of an admitted guess, nil for an invalid name.
func (t *Throttle) counterOf(a *Attempt, g schemas.Guess) *counter {
	name := schemas.IdentifierKey(g.Name)
	if t.options.Failures == nil || name == "" {
		return nil
	}
	c := &counter{}
	switch most := limits()[g.Secret]; a.origin {
	case fromDevice:
		c.limit, c.eventAt, c.by = deviceLimit, deviceLimit, "a known browser"
		name = fmt.Sprintf("%x", a.Device)
	case fromFamiliarNetwork:
		c.limit, c.eventAt, c.by = most.familiar, most.unknown, "unknown networks"
	default:
		c.limit, c.eventAt, c.by = most.unknown, most.unknown, "unknown networks"
	}
	day := ""
	if g.Secret == schemas.AddressSecret {
		day = t.options.Now().UTC().Format(time.DateOnly)
	}
	mac := hmac.New(sha256.New, t.options.DigestKey)
	fmt.Fprintf(mac, "%t\x00%s\x00%s\x00%s\x00%s", a.origin == fromDevice, g.Secret, g.UserID, day, name)
	c.digest = mac.Sum(nil)
	return c
}

// isUnderLimit rejects a guess whose counter is at the limit.
func (t *Throttle) isUnderLimit(ctx context.Context, c *counter) error {
	if c == nil {
		return nil
	}
	n, err := t.options.Failures.FailedGuesses(ctx, c.digest)
	if err == nil && n >= c.limit {
		return exhaustedError()
	}
	return err
}

// countGuess decides whether a checked guess may be answered. A wrong one is counted first, and
// a right one also needs a counter below the limit. So parallel guesses on all instances
// get no more answers than sequential ones, and a right guess costs no write.
func (t *Throttle) countGuess(ctx context.Context, c *counter, g schemas.Guess, right bool) error {
	if c == nil || right {
		return t.isUnderLimit(ctx, c)
	}
	e := g.Event
	e.Detail = map[string]string{"secret": string(g.Secret), "by": c.by}
	// A client that disconnects does not avoid the count.
	counted, err := t.options.Failures.AddFailedGuess(context.WithoutCancel(ctx), schemas.FailedGuess{
		Digest: c.digest, Secret: g.Secret, UserID: g.UserID, Limit: c.limit, At: t.options.Now().UTC(), Event: e, EventAt: c.eventAt,
	})
	if err == nil && !counted {
		return exhaustedError()
	}
	return err
}

// retryExhausted is the Retry-After of a client that has used up its guesses. Waiting alone
// does not help.
const retryExhausted = time.Hour

// exhaustedError is the error of a guess at an account whose limit is reached. It is the same
// for unknown accounts.
func exhaustedError() error {
	err := schemas.Errorf(schemas.Throttled, CodeTooManyRequests,
		"too many sign-ins to this account have failed in a row; sign in with a passkey, or with a browser that this account has used before, "+
			"or ask an administrator to reset the failed attempts")
	err.RetryAfter = retryExhausted
	return err
}
