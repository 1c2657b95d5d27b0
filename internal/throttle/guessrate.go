package throttle

import "time"

// origin is the kind of origin of an admitted guess. It selects the rules that get the refund.
type origin uint8

const (
	notAdmitted origin = iota
	fromDevice
	fromFamiliarNetwork
	fromUnknown
)

// guesses limits wrong passwords and one-time codes.
type guesses struct {
	// familiar are the networks that have signed in to an account.
	familiar *recentKeys
	// successes limits how many familiar pairs one network may add. An attacker who signs
	// in to thousands of their own accounts could otherwise evict those of others.
	successes *Limiter
	// rules are the rules of each kind of caller.
	rules [fromUnknown + 1]rules
}

func newGuesses(b Budgets, rate, pairs int) guesses {
	limit := func(b Budget) *Limiter { return NewLimiter(b, guessKeys(b, rate)) }
	g := guesses{
		familiar:  newRecentKeys(pairs, familiarTTL),
		successes: NewLimiter(Budget{Burst: 512, Every: 5 * time.Minute}, floodKeys),
	}
	g.rules[fromDevice] = rules{{limit(b.FamiliarGuesses), device}}
	g.rules[fromFamiliarNetwork] = rules{{limit(b.FamiliarGuesses), pair}}
	g.rules[fromUnknown] = rules{
		{limit(b.PairGuesses), pair},
		{limit(b.NetworkGuesses), near},
		{limit(b.NetworkGuesses.multipliedBy(widerFactor)), wide},
		{limit(b.AccountGuesses), account},
	}
	return g
}

// guessKeys is how many keys are being spent at most when rate guesses per second are
// checked, and half as many again, because they are not distributed evenly over the sets.
// Hashing bounds the rate, so guesses cannot overflow a table.
func guessKeys(b Budget, rate int) int {
	const most = 1 << 20
	return min(most, max(floodKeys, int(b.Every.Seconds()*float64(rate)*1.5)))
}

// originOf returns the rules that apply to a guess. A guess at an invalid name counts for the
// network alone.
func (g *guesses) originOf(a *Attempt) origin {
	switch {
	case a.Account == Key{}:
		return fromUnknown
	case a.Device != Key{}:
		return fromDevice
	case g.familiar.has(pair.of(a), a.admitted):
		return fromFamiliarNetwork
	}
	return fromUnknown
}

// admit charges the price of a wrong guess.
func (g *guesses) admit(a *Attempt) error {
	as := g.originOf(a)
	if wait := g.rules[as].take(a); wait > 0 {
		return tooManyError(wait, "failed sign-ins, here or elsewhere. "+
			"A passkey still works, and so does a network or device that this account has used before")
	}
	a.origin = as
	return nil
}

// done refunds the price unless the guess was wrong, and remembers the network of a right
// one.
func (g *guesses) done(a *Attempt, outcome Outcome, now int64) {
	as := a.origin
	a.origin = notAdmitted
	if as == notAdmitted || outcome == Failed {
		return
	}
	g.rules[as].refund(a, now)
	if outcome == Passed && a.Account != (Key{}) {
		g.rememberSuccess(a, as, now)
	}
}

func (g *guesses) rememberSuccess(a *Attempt, as origin, now int64) {
	if as == fromFamiliarNetwork || g.successes.Take(a.Network.Wide, now) == 0 {
		g.familiar.add(pair.of(a), now)
	}
}
