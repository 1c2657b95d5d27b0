package throttle

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/postern-id/postern/schemas"
)

// CodeTooManyRequests is the error code of Admit.
const CodeTooManyRequests = "too_many_requests"

// floodKeys is the number of keys of a limiter of requests. A flood can create keys for
// free, but their buckets are soon full again.
const floodKeys = 1 << 13

// The defaults of Options.
const (
	defaultGuessRate = 100
	defaultFamiliar  = 1 << 16
)

// familiarTTL is how long a network stays familiar with an account.
const familiarTTL = 90 * 24 * time.Hour

// Options configure a Throttle.
type Options struct {
	Budgets Budgets
	// Instances is the number of processes that share the budgets for guesses; 0 means one.
	Instances int
	// GuessRate is how many guesses this process can check per second. It determines how
	// many are remembered; 0 means 100.
	GuessRate int
	// Familiar is how many pairs of an account and a network that signed in to it are
	// remembered; 0 means 65,536.
	Familiar int
	// Failures counts failed guesses in the store; nil counts them in memory only.
	Failures Failures
	// DigestKey keys the digests that Failures counts by.
	DigestKey []byte
	// Now is the clock; nil means time.Now. Only differences count, so adjusting a wall
	// clock does no harm.
	Now func() time.Time
}

// Throttle decides which attempts are admitted. Its methods are safe for concurrent use. A
// nil Throttle admits everything.
type Throttle struct {
	options Options
	epoch   time.Time
	// requests are charged for every attempt at an endpoint, refusals only for failed ones.
	requests, refusals [endpoints]rules
	guesses            guesses
	checking           checking
	decisions          [endpoints]struct{ admitted, refused atomic.Int64 }
}

// New makes a Throttle. Its memory, at most about 8 MiB with the defaults, is allocated as it is used.
func New(o Options) *Throttle {
	if o.Now == nil {
		o.Now = time.Now
	}
	b := o.Budgets.dividedBy(max(1, o.Instances))
	t := &Throttle{options: o, epoch: o.Now(), guesses: newGuesses(b, cmp.Or(o.GuessRate, defaultGuessRate), cmp.Or(o.Familiar, defaultFamiliar))}
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

// moment is the current time as the limiters count it.
func (t *Throttle) moment() int64 { return int64(t.options.Now().Sub(t.epoch)) }

// Admit admits an attempt, or rejects it with a schemas.Error of class Throttled that
// contains the time to wait. A Guess is charged in advance, so that parallel guesses gain
// nothing over sequential ones; Done refunds it if it was right. The caller must call Done
// for each admitted attempt; a guess without Done counts as failed.
func (t *Throttle) Admit(a *Attempt) error {
	if t == nil {
		return nil
	}
	err := t.decide(a)
	if err == nil {
		t.decisions[a.Endpoint].admitted.Add(1)
	} else {
		t.decisions[a.Endpoint].refused.Add(1)
	}
	return err
}

// Decisions counts the calls of Admit for an endpoint since the start.
type Decisions struct {
	Endpoint          string
	Admitted, Refused int64
}

// Decisions returns the counts of all endpoints.
func (t *Throttle) Decisions() (list []Decisions) {
	if t == nil {
		return nil
	}
	for at, name := range endpointNames() {
		d := &t.decisions[at]
		list = append(list, Decisions{name, d.admitted.Load(), d.refused.Load()})
	}
	return list
}

// decide admits or rejects an attempt.
func (t *Throttle) decide(a *Attempt) error {
	a.admitted = t.moment()
	if a.Endpoint == Guess {
		return t.guesses.admit(a)
	}
	if wait := t.refusals[a.Endpoint].peek(a); wait > 0 {
		return tooManyError(wait, "rejected requests from your network")
	}
	if wait := t.requests[a.Endpoint].take(a); wait > 0 {
		what := "requests from your network or to this sign-in"
		if a.Endpoint == Mail {
			what = "mails to this account or from your network"
		}
		return tooManyError(wait, what)
	}
	return nil
}

// Done reports the outcome of an admitted attempt.
func (t *Throttle) Done(a *Attempt, outcome Outcome) {
	switch {
	case t == nil:
	case a.Endpoint == Guess:
		t.guesses.done(a, outcome, t.moment())
	case outcome == Failed:
		t.refusals[a.Endpoint].spend(a, t.moment())
	}
}

// tooManyError returns the error of a rejected attempt. It is the same for existing and unknown
// accounts.
func tooManyError(wait time.Duration, what string) error {
	err := schemas.Errorf(schemas.Throttled, CodeTooManyRequests,
		"too many %s; try again in %v", what, max(time.Second, (wait+time.Second-1).Truncate(time.Second)))
	err.RetryAfter = wait
	return err
}
