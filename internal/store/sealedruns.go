package store

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// SealedRuns are the runs of a store whose database holds the states sealed, so that backups
// do not expose user input, challenges or the keys of offered authenticator apps. A state is
// bound to its run, revision and node: in another row, or restored after the run has
// continued, it does not open.
type SealedRuns struct {
	Store *Store
	Box   Cipher
	Log   *slog.Logger // receives the states that do not open
}

// Run is Store.Run with the state opened. A state that does not open ends its run: the error
// is execution_not_found, Class Invalid, as for an expired run. An unsealed state of an older
// version is read unchanged.
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

// runBinding returns the context that a run's state is bound to. No part contains a line
// break, so it is unique.
func runBinding(run *schemas.Run) string {
	return strings.Join([]string{"run", run.ID, strconv.FormatInt(run.Revision, 10), string(run.Status),
		run.FlowID, strconv.Itoa(run.FlowVersion), run.ApplicationID, run.UserID, run.Node}, "\n")
}
