package delivery

import (
	"math/rand/v2"
	"time"
)

// The first pause between two attempts, and the longest.
const (
	firstPause = 5 * time.Second
	maxPause   = time.Hour
)

// Backoff returns the pause after a number of failed attempts: five seconds, doubled each
// time, up to an hour. Up to half of it is subtracted at random, so that deliveries that
// failed together are not retried together.
func Backoff(attempts int) time.Duration {
	pause := maxPause
	if doublings := max(attempts, 1) - 1; doublings < 10 {
		pause = min(firstPause<<doublings, maxPause)
	}
	return pause - rand.N(pause/2)
}
