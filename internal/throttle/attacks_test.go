package throttle

import (
	"fmt"
	"testing"
	"time"
)

// home is the network that the owner of an account signs in from. The attackers have the
// numbers from 0 on.
const home = 1 << 20

// chance is how many of a thousand attempts may fail by collision: the process's secret
// seed decides which keys share a place in a table.
const chance = 10

// A hundred thousand addresses guess at one account, each once a day. The owner signs in
// from home about once an hour and mistypes the password once.
func TestTargetedAttack(t *testing.T) {
	w := newFixture(t, Options{Budgets: DefaultBudgets()})
	owner := guess(home, "ada")
	w.try(owner, Passed)
	const addresses, signIns = 100_000, 25
	admitted, refused := 0, 0
	for i := range addresses {
		if w.try(guess(i, "ada"), Failed) {
			admitted++
		}
		if i%(addresses/signIns) == 0 && !(w.try(owner, Failed) && w.try(owner, Passed)) {
			refused++
		}
		w.pass(24 * time.Hour / addresses)
	}
	b := DefaultBudgets().AccountGuesses
	most := b.Burst + int(24*time.Hour/b.Every)
	t.Logf("a guess from each of %d addresses in a day: %d admitted; the owner was refused %d of %d times", addresses, admitted, refused, signIns)
	if admitted > most {
		t.Errorf("%d guesses were admitted, want at most %d", admitted, most)
	}
	if refused > 0 {
		t.Errorf("the owner was refused %d times", refused)
	}
	w.try(guess(0, "ada"), Failed) // spends what was refilled since
	if w.try(guess(home+1, "ada"), Passed) {
		t.Error("an unknown network is admitted during the attack")
	}
	elsewhere := guess(home+1, "ada")
	elsewhere.Device = KeyOf("phone")
	if !w.try(elsewhere, Passed) {
		t.Error("the owner's device is refused elsewhere")
	}
	if !w.try(Attempt{Endpoint: SignIn, Network: network(home + 2)}, Passed) {
		t.Error("a passkey is refused")
	}
	w.pass(b.Every * 2)
	if !w.try(guess(home+3, "ada"), Passed) {
		t.Error("an unknown network is rejected after the attack")
	}
}

// One address of an office tries a password on fifty thousand accounts, ten times a second.
// Colleagues sign in from the same address, and others from theirs.
func TestPasswordSpraying(t *testing.T) {
	w := newFixture(t, Options{Budgets: DefaultBudgets()})
	for i := range 200 {
		w.try(guess(home, fmt.Sprint("colleague", i)), Passed)
	}
	admitted, colleagues, others := 0, 0, 0
	const tries = 50_000
	for i := range tries {
		if w.try(guess(home, fmt.Sprint("user", i)), Failed) {
			admitted++
		}
		if i%50 == 0 {
			if name := fmt.Sprint("colleague", i/50%200); !w.try(guess(home, name), Failed) || !w.try(guess(home, name), Passed) {
				colleagues++
			}
			if name := fmt.Sprint("user", i); !w.try(guess(home+1+i, name), Passed) {
				others++
			}
		}
		w.pass(time.Second / 10)
	}
	b := DefaultBudgets().NetworkGuesses
	took := tries * time.Second / 10
	most := b.Burst + int(took/b.Every)
	t.Logf("%d accounts tried from one address in %v: %d admitted; of 1,000 sign-ins each, colleagues at that address were refused %d, others %d",
		tries, took, admitted, colleagues, others)
	if admitted > most {
		t.Errorf("%d guesses were admitted, want at most %d", admitted, most)
	}
	if colleagues+others > chance {
		t.Errorf("%d colleagues and %d others were refused", colleagues, others)
	}
}

// An attacker signs in to thousands of their own accounts to evict other users of the same
// network and of others.
func TestKnownDevicesAreNotEvicted(t *testing.T) {
	w := newFixture(t, Options{Budgets: DefaultBudgets(), Familiar: 1 << 13})
	for i := range 1000 {
		w.try(guess(home+i, "ada"), Passed)
	}
	for i := range 50_000 {
		w.try(guess(1, fmt.Sprint("mine", i)), Passed)
		w.pass(time.Second)
	}
	forgotten := 0
	for i := range 1000 {
		if a := guess(home+i, "ada"); !w.guesses.familiar.has(pair.of(&a), w.moment()) {
			forgotten++
		}
	}
	t.Logf("50,000 sign-ins from one network: %d of 1,000 networks are forgotten", forgotten)
	if forgotten > chance {
		t.Errorf("%d networks were forgotten", forgotten)
	}
}

// As many guesses as a machine can hash, spread over so many addresses and names that none
// repeats, do not keep new users out.
func TestFloodOfGuesses(t *testing.T) {
	const rate, minutes = 200, 10
	w := newFixture(t, Options{Budgets: DefaultBudgets(), GuessRate: rate})
	refused := 0
	for i := range rate * 60 * minutes {
		w.try(guess(i, fmt.Sprint("user", i)), Failed)
		if i%100 == 0 && !w.try(guess(home+i, fmt.Sprint("newcomer", i)), Passed) {
			refused++
		}
		w.pass(time.Second / rate)
	}
	t.Logf("%d guesses in %d minutes, each from a new address at a new name: %d of %d newcomers refused",
		rate*60*minutes, minutes, refused, rate*60*minutes/100)
	if refused > chance {
		t.Errorf("%d newcomers were refused", refused)
	}
}
