package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// sealed is a store with its runs sealed.
type sealed struct {
	*store.Store
	runs store.SealedRuns
}

func (s sealed) Run(ctx context.Context, id string) (*schemas.Run, error) { return s.runs.Run(ctx, id) }

func (s sealed) Commit(ctx context.Context, run *schemas.Run, changes []schemas.Change) error {
	return s.runs.Commit(ctx, run, changes)
}

// newSealed seals with a key of the same byte all over, and logs to log.
func newSealed(t testing.TB, s *store.Store, key byte, log *bytes.Buffer) sealed {
	t.Helper()
	box, err := token.NewFrequentCipher(bytes.Repeat([]byte{key}, 32))
	noError(t, err)
	return sealed{s, store.SealedRuns{Store: s, Box: box, Log: slog.New(slog.NewTextHandler(log, nil))}}
}

// Runs that are sealed are runs.
func TestSealedRuns(t *testing.T) {
	sequential(t)
	for name, where := range map[string]func(*testing.T) store.Config{
		"sqlite":   func(t *testing.T) store.Config { return file(t) },
		"postgres": migratedPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Runs(t, func(t *testing.T) storetest.RunStore {
				return newSealed(t, storetest.Open(t, where(t)), 1, &bytes.Buffer{})
			})
		})
	}
}

const typed = "what the user typed"

// sealedRun commits a run with a state, twice, and returns it.
func sealedRun(t *testing.T, s sealed) *schemas.Run {
	t.Helper()
	run := &schemas.Run{ID: schemas.NewID(), Revision: 1, Status: schemas.Incomplete, FlowID: schemas.NewID(), FlowVersion: 1,
		ApplicationID: schemas.NewID(), Node: "who", State: json.RawMessage(`{"typed":"` + typed + `"}`)}
	noError(t, s.Commit(t.Context(), run, nil))
	run.Revision++
	noError(t, s.Commit(t.Context(), run, nil))
	return run
}

// The database has nothing of a state in the clear, and what it has opens in its
// place alone.
func TestSealedRunIsBound(t *testing.T) {
	for name, where := range databases() {
		t.Run(name, func(t *testing.T) {
			c := where(t)
			s, log := storetest.Open(t, c), &bytes.Buffer{}
			runs := newSealed(t, s, 1, log)
			db, err := sql.Open(c.Driver, c.DSN)
			noError(t, err)
			t.Cleanup(func() { noError(t, db.Close()) })
			for _, test := range []struct{ name, change string }{
				{"another revision", "revision = 3"},
				{"another place", "node = 'later'"},
				{"another user", "user_id = 'somebody'"},
				{"another version", "flow_version = 2"},
				{"another flow", "flow_id = 'easy'"},
				{"another application", "application_id = 'trusted'"},
				{"the status of one that is over", "status = 'COMPLETE'"},
				{"the state of another", "state = (SELECT state FROM runs WHERE id = 'OTHER')"},
				{"a state that is no seal's", `state = '"AAAA"'`},
				{"a state that is not base64", `state = '"?"'`},
			} {
				t.Run(test.name, func(t *testing.T) {
					run, other := sealedRun(t, runs), sealedRun(t, runs)
					wantUnreadable(t, db, run.ID)
					found, err := runs.Run(t.Context(), run.ID)
					noError(t, err)
					equal(t, "the state", string(found.State), string(run.State))

					_, err = db.ExecContext(t.Context(), "UPDATE runs SET "+strings.ReplaceAll(test.change, "OTHER", other.ID)+" WHERE id = '"+run.ID+"'")
					noError(t, err)
					wantOver(t, runs, run.ID, log)
				})
			}
		})
	}
}

// wantUnreadable fails the test if the state of a run is kept in the clear.
func wantUnreadable(t *testing.T, db *sql.DB, id string) {
	t.Helper()
	var kept string
	noError(t, db.QueryRowContext(t.Context(), "SELECT state FROM runs WHERE id = '"+id+"'").Scan(&kept))
	if kept == "" || strings.Contains(kept, typed) {
		t.Errorf("the database keeps %q", kept)
	}
}

// wantOver fails the test unless a run is over, and the log says why.
func wantOver(t *testing.T, s sealed, id string, log *bytes.Buffer) {
	t.Helper()
	log.Reset()
	run, err := s.Run(t.Context(), id)
	if !schemas.HasCode(err, schemas.CodeExecutionNotFound) {
		t.Errorf("%v and %v, expected %s", run, err, schemas.CodeExecutionNotFound)
	}
	if !strings.Contains(log.String(), schemas.DigestExecution(id)) || strings.Contains(log.String(), id) || strings.Contains(log.String(), typed) {
		t.Errorf("the log says %q", log)
	}
}

// Without the key runs are over; those that were kept before states were sealed
// go on.
func TestSealedRunsOfOtherTimes(t *testing.T) {
	for name, where := range databases() {
		t.Run(name, func(t *testing.T) {
			s, log := storetest.Open(t, where(t)), &bytes.Buffer{}
			runs := newSealed(t, s, 1, log)
			wantOver(t, newSealed(t, s, 2, log), sealedRun(t, runs).ID, log)

			old := sealedRun(t, runs)
			old.ID, old.Revision = schemas.NewID(), 1
			noError(t, s.Commit(t.Context(), old, nil))
			found, err := runs.Run(t.Context(), old.ID)
			noError(t, err)
			equal(t, "the state", string(found.State), string(old.State))
			found.Revision++
			noError(t, runs.Commit(t.Context(), found, nil))
			kept, err := s.Run(t.Context(), old.ID)
			noError(t, err)
			if strings.Contains(string(kept.State), typed) {
				t.Errorf("the next step is kept as %s", kept.State)
			}
		})
	}
}
