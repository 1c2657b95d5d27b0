package throttle

import "time"

// Budgets are all limits. A zero Budget sets no limit.
type Budgets struct {
	// SignIns limits the requests of one network to the sign-in endpoints: steps of flows
	// and passkey ceremonies.
	SignIns Budget
	// RunStarts limits the runs that one network starts. Each is stored until it expires.
	RunStarts Budget
	// RunSteps limits the requests to one run.
	RunSteps Budget

	// Tokens limits the requests of one network to the token endpoint, and TokenFailures
	// the rejected ones among them. Servers legitimately fetch many tokens.
	Tokens, TokenFailures Budget
	// Registrations limits the clients that one network registers.
	Registrations Budget

	// PairMails limits the mails that one network sends to one account, AccountMails those
	// of all networks to one account, and NetworkMails those of one network to all
	// accounts.
	PairMails, AccountMails, NetworkMails Budget

	// PairGuesses limits the wrong guesses of one network at one account, and
	// FamiliarGuesses those of a network or device that has signed in to the account
	// before.
	PairGuesses, FamiliarGuesses Budget
	// NetworkGuesses limits the wrong guesses of one network at accounts it is not familiar
	// with, and AccountGuesses those of all such networks at one account.
	NetworkGuesses, AccountGuesses Budget
}

// widerFactor is the factor between the budgets of a network and those of the wider network
// around it.
const widerFactor = 4

// DefaultBudgets allow all users of an office behind one address to sign in at the same time, and
// slow down guessing. The store limits how many guesses at an account may fail in a row: see
// limits. No account is sent more than 30 mails an hour, and one network cannot use them up.
func DefaultBudgets() Budgets {
	return Budgets{
		SignIns:         Budget{Burst: 500, Every: time.Second / 50},
		RunStarts:       Budget{Burst: 200, Every: time.Second / 20},
		RunSteps:        Budget{Burst: 30, Every: time.Second / 4},
		Tokens:          Budget{Burst: 5000, Every: time.Second / 1000},
		TokenFailures:   Budget{Burst: 100, Every: time.Second / 5},
		Registrations:   Budget{Burst: 20, Every: 10 * time.Second},
		PairMails:       Budget{Burst: 5, Every: 5 * time.Minute},
		AccountMails:    Budget{Burst: 20, Every: 2 * time.Minute},
		NetworkMails:    Budget{Burst: 100, Every: 10 * time.Second},
		PairGuesses:     Budget{Burst: 8, Every: 2 * time.Minute},
		FamiliarGuesses: Budget{Burst: 10, Every: 5 * time.Minute},
		NetworkGuesses:  Budget{Burst: 100, Every: 5 * time.Second},
		AccountGuesses:  Budget{Burst: 100, Every: 6 * time.Minute},
	}
}

// dividedBy divides the budgets for guesses and mails among the instances of the service.
// Flood limits are not divided: each instance protects its own processor.
func (b Budgets) dividedBy(instances int) Budgets {
	for _, guesses := range []*Budget{&b.PairMails, &b.AccountMails, &b.NetworkMails, &b.PairGuesses, &b.FamiliarGuesses, &b.NetworkGuesses, &b.AccountGuesses} {
		*guesses = guesses.dividedBy(instances)
	}
	return b
}
