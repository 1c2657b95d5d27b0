package throttle

import "time"

// bill identifies the rules that admitted a guess, which get the refund.
type bill uint8

const (
	unbilled bill = iota
	billDevice
	billFamiliar
	billUnknown
)

// guesses limits wrong passwords and one-time codes.
type guesses struct {
	// familiar are the networks that have signed in to an account.
	familiar *recentKeys
	// successes limits how many familiar pairs one network may add. An attacker who signs
	// in to thousands of their own accounts could otherwise evict those of others.
	successes *Limiter
	// rules are the rules of each kind of caller.
	rules [billUnknown + 1]rules
}

func newGuesses(b Budgets, rate, pairs int) guesses {
	limit := func(b Budget) *Limiter { return NewLimiter(b, guessKeys(b, rate)) }
	g := guesses{
		familiar:  newRecentKeys(pairs, familiarFor),
		successes: NewLimiter(Budget{Burst: 512, Every: 5 * time.Minute}, floodKeys),
	}
	g.rules[billDevice] = rules{{limit(b.FamiliarGuesses), device}}
	g.rules[billFamiliar] = rules{{limit(b.FamiliarGuesses), pair}}
	g.rules[billUnknown] = rules{
		{limit(b.PairGuesses), pair},
		{limit(b.NetworkGuesses), near},
		{limit(b.NetworkGuesses.multipliedBy(wider)), wide},
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

// bill returns the rules that apply to a guess. A guess at an invalid name counts for the
// network alone.
func (g *guesses) bill(a *Attempt) bill {
	switch {
	case a.Account == Key{}:
		return billUnknown
	case a.Device != Key{}:
		return billDevice
	case g.familiar.has(pair.of(a), a.admitted):
		return billFamiliar
	}
	return billUnknown
}

// admit charges the price of a wrong guess.
func (g *guesses) admit(a *Attempt) error {
	as := g.bill(a)
	if wait := g.rules[as].take(a); wait > 0 {
		return tooMany(wait, "failed sign-ins, here or elsewhere. "+
			"A passkey still works, and so does a network or device that this account has used before")
	}
	a.bill = as
	return nil
}

// done refunds the price unless the guess was wrong, and remembers the network of a right
// one.
func (g *guesses) done(a *Attempt, outcome Outcome, now int64) {
	as := a.bill
	a.bill = unbilled
	if as == unbilled || outcome == Failed {
		return
	}
	g.rules[as].refund(a, now)
	if outcome == Passed && a.Account != (Key{}) {
		g.rememberSuccess(a, as, now)
	}
}

func (g *guesses) rememberSuccess(a *Attempt, as bill, now int64) {
	if as == billFamiliar || g.successes.Take(a.Network.Wide, now) == 0 {
		g.familiar.add(pair.of(a), now)
	}
}
