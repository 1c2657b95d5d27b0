package store

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// SealedRuns are the runs of a store whose states the database holds sealed: what
// people have typed, the challenges and the keys of authenticator apps that they
// were offered are in no backup in the clear. A state belongs to its run, its
// revision and the place where the run stands: in another row, or put back after
// the run has moved on, it does not open.
type SealedRuns struct {
	Store *Store
	Box   Cipher
	Log   *slog.Logger // is told of states that do not open
}

// Run is Store.Run with the state opened. A state that does not open ends its run:
// it is execution_not_found, Class Invalid, as if the run had expired. One that is
// not sealed was kept before states were, and is read as it is.
func (s SealedRuns) Run(ctx context.Context, id string) (*schemas.Run, error) {
	run, err := s.Store.Run(ctx, id)
	if err != nil || !isSealed(run.State) {
		return run, err
	}
	if run.State, err = openState(s.Box, run.State, runBinding(run)); err != nil {
		s.Log.WarnContext(ctx, "the state of a run does not open, so the run is over: the key has changed, or the row has", "executionDigest", run.Digest(), "error", err)
		return nil, errNoRun()
	}
	return run, nil
}

// Commit is Store.Commit with the state sealed.
func (s SealedRuns) Commit(ctx context.Context, run *schemas.Run, changes []schemas.Change) error {
	kept := *run
	if len(run.State) > 0 {
		kept.State = sealState(s.Box, run.State, runBinding(run))
	}
	return s.Store.Commit(ctx, &kept, changes)
}

// runBinding says what a run's state was decided for. Nothing in it has a line break,
// so no two runs have the same.
func runBinding(run *schemas.Run) string {
	return strings.Join([]string{"run", run.ID, strconv.FormatInt(run.Revision, 10), string(run.Status),
		run.FlowID, strconv.Itoa(run.FlowVersion), run.ApplicationID, run.UserID, run.Node}, "\n")
}
