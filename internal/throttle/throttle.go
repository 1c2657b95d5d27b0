package throttle

import (
	"cmp"
	"time"

	"github.com/postern-id/postern/schemas"
)

// CodeTooManyRequests is the code of the error of Admit.
const CodeTooManyRequests = "too_many_requests"

// floodKeys is how many keys a limiter of requests has places for. Whoever floods
// makes keys for nothing, but their buckets are soon full again.
const floodKeys = 1 << 13

// The defaults of Options.
const (
	defaultGuessRate = 100
	defaultFamiliar  = 1 << 16
)

// familiarFor is how long a network stays familiar with an account.
const familiarFor = 90 * 24 * time.Hour

// Options say how a Throttle limits.
type Options struct {
	Budgets Budgets
	// Instances is how many processes of the service share the budgets for
	// guesses; 0 means one.
	Instances int
	// GuessRate is how many guesses this process can check in a second, which
	// decides how many it has to remember; 0 means 100.
	GuessRate int
	// Familiar is how many pairs of an account and a network that signed in to it
	// are remembered; 0 means 65,536.
	Familiar int
	// Failures counts failed guesses in the store; nil: they are counted in memory only.
	Failures Failures
	// DigestKey keys the digests by which Failures counts.
	DigestKey []byte
	// Now is the clock; nil means time.Now. Only differences count, so a wall
	// clock that is set anew does no harm.
	Now func() time.Time
}

// Throttle decides which attempts are admitted. Its methods may be called by any
// number of goroutines. A nil Throttle admits everything.
type Throttle struct {
	now   func() time.Time
	epoch time.Time
	// requests are paid by every attempt at an endpoint, refusals only by failed
	// ones.
	requests, refusals [endpoints]rules
	guesses            guesses
	failures           Failures
	digestKey          []byte
}

// New makes a Throttle. All of its memory, about 8 MiB with the defaults, is
// taken here and grows no more; what is never used is never touched.
func New(o Options) *Throttle {
	if o.Now == nil {
		o.Now = time.Now
	}
	b := o.Budgets.dividedBy(max(1, o.Instances))
	t := &Throttle{now: o.Now, epoch: o.Now(), failures: o.Failures, digestKey: o.DigestKey, guesses: newGuesses(b, cmp.Or(o.GuessRate, defaultGuessRate), cmp.Or(o.Familiar, defaultFamiliar))}
	t.requests = [endpoints]rules{
		SignIn:   byNetwork(b.SignIns),
		RunStart: byNetwork(b.RunStarts),
		RunStep:  {{NewLimiter(b.RunSteps, floodKeys), run}},
		Token:    byNetwork(b.Tokens),
		Register: byNetwork(b.Registrations),
		Mail:     append(rules{{NewLimiter(b.PairMails, floodKeys), pair}, {NewLimiter(b.AccountMails, floodKeys), account}}, byNetwork(b.NetworkMails)...),
	}
	t.refusals[Token] = byNetwork(b.TokenFailures)
	return t
}

// moment is now, as the limiters count it.
func (t *Throttle) moment() int64 { return int64(t.now().Sub(t.epoch)) }

// Admit lets an attempt pass, or refuses it with a schemas.Error of class
// Throttled that says when to try again. A Guess pays in advance, so that many
// at once are no more than one after the other, and gets it back from Done when
// it was right. The caller calls Done for each attempt that was admitted; one
// that is lost has failed, as far as guesses go.
func (t *Throttle) Admit(a *Attempt) error {
	if t == nil {
		return nil
	}
	a.admitted = t.moment()
	if a.Endpoint == Guess {
		return t.guesses.admit(a)
	}
	if wait := t.refusals[a.Endpoint].peek(a); wait > 0 {
		return tooMany(wait, "requests that were refused came from your network")
	}
	if wait := t.requests[a.Endpoint].take(a); wait > 0 {
		what := "requests came from your network or for this sign-in"
		if a.Endpoint == Mail {
			what = "mails were sent to this account, or by your network"
		}
		return tooMany(wait, what)
	}
	return nil
}

// Done tells how an attempt came out that was admitted.
func (t *Throttle) Done(a *Attempt, outcome Outcome) {
	switch {
	case t == nil:
	case a.Endpoint == Guess:
		t.guesses.done(a, outcome, t.moment())
	case outcome == Failed:
		t.refusals[a.Endpoint].spend(a, t.moment())
	}
}

// tooMany is the error of an attempt that was not admitted. It is the same for
// accounts that are there and for those that are not.
func tooMany(wait time.Duration, what string) error {
	err := schemas.Errorf(schemas.Throttled, CodeTooManyRequests,
		"too many %s; try again in %v", what, max(time.Second, (wait+time.Second-1).Truncate(time.Second)))
	err.RetryAfter = wait
	return err
}
