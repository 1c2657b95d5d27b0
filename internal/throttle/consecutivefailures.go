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
	// FailedGuesses returns the values of counters.
	FailedGuesses(ctx context.Context, counters []schemas.GuessCounter) ([]int, error)
	// AddFailedGuess increases all counters of a guess and returns their new values. It returns
	// nil and counts nothing if one of them is at its limit.
	AddFailedGuess(ctx context.Context, f schemas.FailedGuess) ([]int, error)
	// RemoveFailedGuess takes back a guess that was counted and did not fail.
	RemoveFailedGuess(ctx context.Context, f schemas.FailedGuess) error
	// ExhaustGuesses records, once, that counters of a guess have reached their EventAt.
	ExhaustGuesses(ctx context.Context, f schemas.FailedGuess) error
}

// failureLimit is how many guesses at a secret may fail in a row under one name: from
// unknown networks, and from all callers without a known device, which includes networks
// that signed in to the account before. Familiar networks thus have a few guesses left when
// unknown ones have none.
type failureLimit struct{ unknown, familiar int }

// limits are the limits of each secret. Secrets are counted by the name that was entered, and an
// account has several: one count for all would reveal which names belong to one user.
func limits() map[schemas.GuessedSecret]failureLimit {
	return map[schemas.GuessedSecret]failureLimit{
		schemas.PasswordSecret: {unknown: 22, familiar: 28},
		schemas.MailedSecret:   {unknown: 10, familiar: 14},
		schemas.TOTPSecret:     {unknown: 12, familiar: 16},
		schemas.RecoverySecret: {unknown: 12, familiar: 16},
		// Per day: no sign-in resets the count of an address without an account.
		schemas.AddressSecret: {unknown: 15, familiar: 20},
	}
}

// The limits of an account, for each of its secrets: how many guesses may fail in a row on all devices
// that have proved the secret before, and by all other callers under any names. Together they stay
// below 100 (NIST SP 800-63B-4 §3.2.2): each instance may check one guess before it is counted.
// unknownLimit is above what two names have, so that a caller does not learn that both belong to
// one user.
const (
	knownLimit   = 20
	unknownLimit = 70
)

// The kinds of counters. byName has the value of earlier releases, whose counts go on.
const (
	byName     = "false"
	byAllNames = "all names"
	byAllKnown = "known browsers"
	byUnknown  = "unknown networks"
)

// nameOf returns the name that a guess counts for. For a known user, it accepts any name, so that an
// invented one does not avoid the count.
func nameOf(g schemas.Guess) string {
	if name := schemas.IdentifierKey(g.Name); name != "" {
		return name
	}
	return g.UserID
}

// failureOf returns how the store counts an admitted guess, nil for an invalid name.
func (t *Throttle) failureOf(a *Attempt, g schemas.Guess) *schemas.FailedGuess {
	name := nameOf(g)
	if t.options.Failures == nil || name == "" {
		return nil
	}
	f := &schemas.FailedGuess{Secret: g.Secret, UserID: g.UserID, At: t.options.Now().UTC(), Event: g.Event}
	by, most, total := byUnknown, limits()[g.Secret], name
	if g.UserID != "" {
		total = ""
	}
	switch a.origin {
	case fromDevice:
		by = byAllKnown
		f.Counters = []schemas.GuessCounter{{Digest: t.digest(byAllKnown, g, ""), Limit: knownLimit, EventAt: knownLimit}}
	case fromFamiliarNetwork:
		f.Counters = []schemas.GuessCounter{{Digest: t.digest(byName, g, name), Limit: most.familiar, EventAt: most.unknown}}
	default:
		f.Counters = []schemas.GuessCounter{{Digest: t.digest(byName, g, name), Limit: most.unknown, EventAt: most.unknown}}
	}
	if a.origin != fromDevice {
		f.Counters = append(f.Counters, schemas.GuessCounter{Digest: t.digest(byAllNames, g, total), Limit: unknownLimit, EventAt: unknownLimit})
	}
	f.Event.Detail = map[string]string{"secret": string(g.Secret), "by": by}
	return f
}

// digest identifies a counter without revealing its name or user.
func (t *Throttle) digest(kind string, g schemas.Guess, name string) []byte {
	day := ""
	if g.Secret == schemas.AddressSecret {
		day = t.options.Now().UTC().Format(time.DateOnly)
	}
	mac := hmac.New(sha256.New, t.options.DigestKey)
	fmt.Fprintf(mac, "%s\x00%s\x00%s\x00%s\x00%s", kind, g.Secret, g.UserID, day, name)
	return mac.Sum(nil)
}

// checkCounted checks an admitted guess and counts it in the store. A guess is counted before it is
// checked, and a right one is taken back: otherwise the right one of many parallel guesses would be
// answered while the others wait to be counted. Only the first guess of a process at an account
// without failures is counted afterwards, so that a sign-in without any costs no write.
func (t *Throttle) checkCounted(ctx context.Context, f *schemas.FailedGuess, check func() (bool, error)) (bool, error) {
	if f == nil {
		return check()
	}
	leave, alone := t.checking.enter(string(f.Counters[len(f.Counters)-1].Digest))
	defer leave()
	failed, err := t.failed(ctx, f)
	if err != nil {
		return false, err
	}
	ctx = context.WithoutCancel(ctx) // a client that disconnects does not avoid the count
	if alone && !failed {
		return t.checkFirst(ctx, f, check)
	}
	failures, err := t.count(ctx, f)
	if err != nil {
		return false, err
	}
	right, err := check()
	if right || err != nil {
		if removed := t.options.Failures.RemoveFailedGuess(ctx, *f); err == nil {
			err = removed
		}
		return right && err == nil, err
	}
	return false, t.exhaust(ctx, f, failures)
}

// checkFirst checks a guess and counts it if it was wrong. A right one needs counters below their
// limits still.
func (t *Throttle) checkFirst(ctx context.Context, f *schemas.FailedGuess, check func() (bool, error)) (bool, error) {
	right, err := check()
	if err != nil {
		return false, err
	}
	if right {
		_, err := t.failed(ctx, f)
		return err == nil, err
	}
	failures, err := t.count(ctx, f)
	if err != nil {
		return false, err
	}
	return false, t.exhaust(ctx, f, failures)
}

// failed reports whether earlier guesses have failed. It rejects a guess with a counter at its limit.
func (t *Throttle) failed(ctx context.Context, f *schemas.FailedGuess) (any bool, err error) {
	failures, err := t.options.Failures.FailedGuesses(ctx, f.Counters)
	if err != nil {
		return false, err
	}
	for i, n := range failures {
		if n >= f.Counters[i].Limit {
			return false, exhaustedError(f.Secret)
		}
		any = any || n > 0
	}
	return any, nil
}

// count counts a guess and returns the values of its counters.
func (t *Throttle) count(ctx context.Context, f *schemas.FailedGuess) ([]int, error) {
	failures, err := t.options.Failures.AddFailedGuess(ctx, *f)
	if err == nil && failures == nil {
		err = exhaustedError(f.Secret)
	}
	return failures, err
}

// exhaust records that a wrong guess was the last one of its kind of caller.
func (t *Throttle) exhaust(ctx context.Context, f *schemas.FailedGuess, failures []int) error {
	for i, n := range failures {
		if n >= f.Counters[i].EventAt {
			return t.options.Failures.ExhaustGuesses(ctx, *f)
		}
	}
	return nil
}

// retryExhausted is the Retry-After of a client that has used up its guesses. Waiting alone
// does not help.
const retryExhausted = time.Hour

// exhaustedError is the error of a guess at a secret whose limit is reached. It is the same
// for unknown accounts.
func exhaustedError(secret schemas.GuessedSecret) error {
	text := "too many sign-ins to this account have failed in a row; sign in with a passkey, or with a browser in which this account has used the password or code before, " +
		"or ask an administrator to reset the failed attempts"
	if secret == schemas.TOTPSecret || secret == schemas.RecoverySecret {
		text = "too many wrong codes were entered for this account, so they are accepted only in browsers in which they were used before; " +
			"sign in with a passkey or another factor, which enables the codes again, or ask an administrator"
	}
	err := schemas.Errorf(schemas.Throttled, CodeTooManyRequests, "%s", text)
	err.RetryAfter = retryExhausted
	return err
}
