package chains

import (
	"context"
	"fmt"
)

// MaxMoves limits the work of an analysis: the outcomes of nodes that it follows, over all flows,
// means and accounts. It does not depend on the speed of the machine: the same system is analyzed
// everywhere, or nowhere.
const MaxMoves = 30_000_000

// TooLargeError is the error about a system whose analysis would take more than the limit. Nothing
// is known about its ways.
type TooLargeError struct {
	Flows, Applications int // that differ from each other
	Limit               int
}

// Error describes what is too large, and what to do.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("not known: an analysis of %d different flows at %d applications that start different flows takes more than %d moves; "+
		"let more applications use the same flows, split long flows, or remove outcomes that lead back to earlier nodes", e.Flows, e.Applications, e.Limit)
}

// budget counts moves.
type budget struct {
	ctx  context.Context
	left int
}

// spend counts moves. It fails if none is left, or if the caller has gone.
func (b *budget) spend(moves int) error {
	before := b.left
	if b.left -= moves; b.left < 0 {
		return errSpent
	}
	if before/1024 != b.left/1024 {
		return b.ctx.Err()
	}
	return nil
}

// errSpent means that the budget is used up. Analyze returns a TooLargeError instead.
var errSpent = fmt.Errorf("chains: the budget is used up")
