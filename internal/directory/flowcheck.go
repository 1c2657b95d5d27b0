package directory

import (
	"cmp"
	"time"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
)

// The maximum numbers of concurrent checks of flows, of all callers and of one. The largest flow takes up
// to a second of the processor.
const (
	maxChecks          = 16
	maxChecksPerCaller = 4
)

// checkFlow is CheckFlow within the limits of concurrent checks. Above them the error has the class
// Throttled for the caller's own checks, and Unavailable for those of all.
func (d *Directory) checkFlow(c Call, text []byte, yaml bool, subflows schemas.Subflows) (*schemas.Flow, []schemas.Problem, error) {
	if c.Actor.Type == schemas.SystemActor {
		flow, problems := d.CheckFlow(text, yaml, subflows)
		return flow, problems, nil
	}
	leave, own := d.checks.Acquire(cmp.Or(c.Actor.ID, c.Actor.Client))
	if leave == nil {
		return nil, nil, busyChecks(own)
	}
	defer leave()
	flow, problems := d.CheckFlow(text, yaml, subflows)
	return flow, problems, nil
}

func busyChecks(own bool) error {
	busy := schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "too many flows are being checked; try again in a second")
	if own {
		busy = schemas.Errorf(schemas.Throttled, throttle.CodeTooManyRequests,
			"%d of your requests are checking flows; wait for one to complete, then try again", maxChecksPerCaller)
	}
	busy.RetryAfter = time.Second
	return busy
}
