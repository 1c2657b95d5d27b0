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

// Backoff is how long a delivery waits after it has been sent so many times
// without arriving: five seconds, and twice as long each time, up to an hour. Up to
// half of it is left off at random, so that what failed together does not come
// again together.
func Backoff(attempts int) time.Duration {
	pause := maxPause
	if doublings := max(attempts, 1) - 1; doublings < 10 {
		pause = min(firstPause<<doublings, maxPause)
	}
	return pause - rand.N(pause/2)
}
