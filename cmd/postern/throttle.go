package main

import (
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/throttle"
)

// guessesPerWorker is how many passwords a worker of the pool checks per second at most, at
// the default cost.
const guessesPerWorker = 64

// newThrottle creates the limits of guesses and floods, nil if they are disabled.
func newThrottle(cfg *config.Config, failures throttle.Failures, digestKey []byte) *throttle.Throttle {
	if !cfg.Throttle.Enabled {
		return nil
	}
	return throttle.New(throttle.Options{
		Budgets:   throttleBudgets(cfg.Throttle),
		Instances: cfg.Throttle.Instances,
		Familiar:  cfg.Throttle.FamiliarNetworks,
		GuessRate: guessesPerWorker * cfg.Password.Workers,
		Failures:  failures, DigestKey: digestKey,
	})
}

func throttleBudgets(c config.Throttle) throttle.Budgets {
	budget := func(b config.Budget) throttle.Budget {
		return throttle.Budget{Burst: b.Burst, Every: b.Every}
	}
	return throttle.Budgets{
		SignIns: budget(c.SignIns), RunStarts: budget(c.RunStarts), RunSteps: budget(c.RunSteps),
		Tokens: budget(c.Tokens), TokenFailures: budget(c.TokenFailures), Registrations: budget(c.Registrations),
		PairMails: budget(c.PairMails), AccountMails: budget(c.AccountMails), NetworkMails: budget(c.NetworkMails),
		PairGuesses: budget(c.PairGuesses), FamiliarGuesses: budget(c.FamiliarGuesses),
		NetworkGuesses: budget(c.NetworkGuesses), AccountGuesses: budget(c.AccountGuesses),
	}
}

// trustedProxies returns the trusted reverse proxies.
func trustedProxies(c config.Server) throttle.Proxies {
	return throttle.Proxies{Field: c.ForwardedField, Trusted: c.TrustedProxies}
}
