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
		Budgets:   throttle.Budgets(cfg.Throttle.Budgets),
		Instances: cfg.Throttle.Instances,
		Familiar:  cfg.Throttle.FamiliarNetworks,
		GuessRate: guessesPerWorker * cfg.Password.Workers,
		Failures:  failures, DigestKey: digestKey,
	})
}

// trustedProxies returns the trusted reverse proxies.
func trustedProxies(c config.Server) throttle.Proxies {
	return throttle.Proxies{Field: c.ForwardedField, Trusted: c.TrustedProxies}
}
