package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// recorder is a sink that keeps the rows of each table.
type recorder struct {
	tables map[string][]string // the columns first, then the rows as text
	table  string
}

func (r *recorder) Table(name string, columns []string) error {
	r.table = name
	r.tables[name] = []string{strings.Join(columns, " ")}
	return nil
}

func (r *recorder) Row(values []any) error {
	r.tables[r.table] = append(r.tables[r.table], fmt.Sprintf("%T%#[1]v", values))
	return nil
}

func contentOf(t *testing.T, s *store.Store) map[string][]string {
	t.Helper()
	r := &recorder{tables: map[string][]string{}}
	noError(t, s.Dump(t.Context(), r))
	for _, rows := range r.tables {
		slices.Sort(rows[1:])
	}
	return r.tables
}

// fullDisk is a sink that cannot write.
type fullDisk struct{ *recorder }

func (fullDisk) Row([]any) error {
	return &fs.PathError{Op: "write", Path: "backup", Err: syscall.ENOSPC}
}

// A full disk of the backup is not reported as an outage of the database.
func TestDumpToFullDisk(t *testing.T) {
	err := filledStore(t, file(t)).Dump(t.Context(), fullDisk{&recorder{tables: map[string][]string{}}})
	if !errors.Is(err, syscall.ENOSPC) || schemas.HasClass(err, schemas.Unavailable) {
		t.Errorf("the error is %v", err)
	}
}

// filledStore has rows with texts, numbers, bytes, booleans and NULL.
func filledStore(t *testing.T, c store.Config) *store.Store {
	s := storetest.Open(t, c)
	user := schemas.User{ID: schemas.NewID(), Type: "Person", OUID: "", Attributes: map[string]any{"username": "zoë", "note": "\n\"'\\\t\u0001", "n": 1.5}}
	types, err := store.UserTypes().List(t.Context(), s, store.Page{Limit: 1})
	noError(t, err)
	user.Type, user.OUID = types[0].Name, types[0].OUID
	noError(t, s.Apply(t.Context(), storetest.Authorized([]schemas.Change{
		schemas.CreateUser{User: user},
		schemas.CreateCredential{Credential: schemas.Credential{ID: schemas.Bytes{0, 1, '\\', 0xff}, UserID: user.ID, Name: "Key", PublicKey: schemas.Bytes{0xfe}}},
		schemas.RecordEvent{Event: schemas.Event{ID: schemas.NewID(), Action: "user.created", UserID: user.ID}},
	})))
	_, err = s.EventChain(make([]byte, 32)).Seal(t.Context())
	noError(t, err)
	return s
}

// All rows of a store go to a new SQLite database and to PostgreSQL, from both, and are the same
// there.
func TestCopies(t *testing.T) {
	sequential(t)
	for name, where := range databases() {
		t.Run("from "+name, func(t *testing.T) {
			s := filledStore(t, where(t))
			want := contentOf(t, s)
			read := func(to store.RowSink) error { return s.Dump(t.Context(), to) }
			t.Run("to sqlite", func(t *testing.T) {
				c := file(t)
				noError(t, store.CreateFrom(t.Context(), c.DSN, store.SchemaVersion(), read))
				copied, err := store.Open(t.Context(), c)
				noError(t, err)
				testCopy(t, copied, want)
			})
			t.Run("to postgres", func(t *testing.T) {
				copied := filledStore(t, postgres(t)) // whose rows are replaced
				noError(t, copied.Replace(t.Context(), read))
				testCopy(t, copied, want)
			})
		})
	}
}

// testCopy compares a copy, and writes to it: its triggers and constraints are in place.
func testCopy(t *testing.T, s *store.Store, want map[string][]string) {
	t.Helper()
	equal(t, "the content", contentOf(t, s), want)
	report, err := s.EventChain(make([]byte, 32)).Verify(t.Context(), nil)
	if err != nil || report.Fault != nil || report.Events == 0 {
		t.Errorf("the audit log: %+v, %v", report, err)
	}
	before, err := store.Users().Count(t.Context(), s, store.Page{})
	noError(t, err)
	if err := s.Apply(t.Context(), []schemas.Change{schemas.CreateUser{User: schemas.User{ID: schemas.NewID(), Type: "none", OUID: "none"}}}); err == nil {
		t.Error("a user of a missing type was created")
	}
	if err := s.Apply(t.Context(), []schemas.Change{schemas.StartSession{Session: schemas.Session{ID: schemas.NewID(), UserID: "none"}}}); err == nil {
		t.Error("a session of a missing user was created")
	}
	types, err := store.UserTypes().List(t.Context(), s, store.Page{Limit: 1})
	noError(t, err)
	noError(t, s.Apply(t.Context(), []schemas.Change{schemas.CreateUser{User: schemas.User{ID: schemas.NewID(), Type: types[0].Name, OUID: types[0].OUID}}}))
	after, err := store.Users().Count(t.Context(), s, store.Page{})
	noError(t, err)
	equal(t, "the number of users", after, before+1)
}

// Rows that do not fit are rejected, and the store stays as it was.
func TestCopyRejects(t *testing.T) {
	sequential(t)
	s, target := filledStore(t, file(t)), filledStore(t, postgres(t))
	before := contentOf(t, target)
	for name, c := range map[string]struct {
		read func(store.RowSink) error
		want string
	}{
		"a failed read":     {func(store.RowSink) error { return errors.New("unreadable") }, "unreadable"},
		"no tables":         {func(store.RowSink) error { return nil }, "there are no rows of the table"},
		"an unknown table":  {func(to store.RowSink) error { return to.Table("secrets; DROP TABLE users", nil) }, "no table"},
		"other columns":     {func(to store.RowSink) error { return to.Table("users", []string{"id"}) }, "the columns of the table users"},
		"a table twice":     {func(to store.RowSink) error { return twice(func() error { return s.Dump(t.Context(), to) }) }, "two tables"},
		"a row of no table": {func(to store.RowSink) error { return to.Row([]any{"a"}) }, "a row has 1 values"},
		"dangling rows":     {func(to store.RowSink) error { return s.Dump(t.Context(), &without{RowSink: to, table: "users"}) }, "user"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := store.CreateFrom(t.Context(), filepath.Join(t.TempDir(), "store.db"), store.SchemaVersion(), c.read); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("SQLite: %v, expected %q", err, c.want)
			}
			if err := target.Replace(t.Context(), c.read); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("PostgreSQL: %v, expected %q", err, c.want)
			}
			equal(t, "the content", contentOf(t, target), before)
		})
	}
}

func twice(do func() error) error {
	if err := do(); err != nil {
		return err
	}
	return do()
}

// without drops the rows of a table.
type without struct {
	store.RowSink
	table string
	drops bool
}

func (w *without) Table(name string, columns []string) error {
	w.drops = name == w.table
	return w.RowSink.Table(name, columns)
}

func (w *without) Row(values []any) error {
	if w.drops {
		return nil
	}
	return w.RowSink.Row(values)
}

// A copy has the schema of its rows. There are no rows of versions before the baseline.
func TestCopyOfAnOldVersion(t *testing.T) {
	err := store.CreateFrom(t.Context(), filepath.Join(t.TempDir(), "store.db"), 46, func(store.RowSink) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "schema version 46 is too old: this program migrates from version 47 on") {
		t.Errorf("the error is %v", err)
	}
}

// A copy that is opened for the first time records which programs work with it.
func TestCopyRecordsCompatibility(t *testing.T) {
	from, to := storetest.OpenEmpty(t, file(t)), file(t)
	noError(t, store.CreateFrom(t.Context(), to.DSN, store.SchemaVersion(), func(sink store.RowSink) error { return from.Dump(t.Context(), sink) }))
	s, err := store.Open(t.Context(), to)
	noError(t, err)
	noError(t, s.Close())
	versions, pending, err := store.PlanMigrations(t.Context(), to)
	noError(t, err)
	equal(t, "the pending migrations", len(pending), 0)
	if versions.CompatibleFrom < 47 {
		t.Errorf("programs from version %d on open the store", versions.CompatibleFrom)
	}
}
