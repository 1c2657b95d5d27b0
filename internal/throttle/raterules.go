package throttle

import "time"

// subject is the part of an attempt that a rule counts. A function of the attempt in its
// place would move the attempt to the heap.
type subject uint8

const (
	near subject = iota
	wide
	account
	pair // of network and account
	device
	run
)

func (s subject) of(a *Attempt) Key {
	switch s {
	case near:
		return a.Network.Near
	case wide:
		return a.Network.Wide
	case account:
		return a.Account
	case device:
		return a.Device.with(a.Account)
	case run:
		return a.Run
	}
	if a.Account == (Key{}) {
		return Key{} // an invalid name makes no pair
	}
	return a.Network.Near.with(a.Account)
}

// rule limits one kind of key.
type rule struct {
	limiter *Limiter
	counts  subject
}

// rules admit an attempt only if each of them does.
type rules []rule

// byNetwork limits networks, and the wider networks around them more loosely.
func byNetwork(b Budget) rules {
	return rules{{NewLimiter(b, floodKeys), near}, {NewLimiter(b.multipliedBy(widerFactor), floodKeys), wide}}
}

// take spends a token of every rule, or of none. Then it returns how long to wait.
func (all rules) take(a *Attempt) time.Duration {
	for i, r := range all {
		if wait := r.limiter.Take(r.counts.of(a), a.admitted); wait > 0 {
			all[:i].refund(a, a.admitted)
			return wait
		}
	}
	return 0
}

// refund returns the tokens that take spent.
func (all rules) refund(a *Attempt, now int64) {
	for _, r := range all {
		r.limiter.Refund(r.counts.of(a), a.admitted, now)
	}
}

// peek returns what take would return, without spending.
func (all rules) peek(a *Attempt) time.Duration {
	for _, r := range all {
		if wait := r.limiter.Peek(r.counts.of(a), a.admitted); wait > 0 {
			return wait
		}
	}
	return 0
}

// spend charges an attempt that was already admitted.
func (all rules) spend(a *Attempt, now int64) {
	for _, r := range all {
		r.limiter.Spend(r.counts.of(a), now)
	}
}
