package storetest

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Lasting tests guarantees that outlast a process. fresh returns the location of a new and empty
// store, and a function that opens its database directly.
func Lasting(t *testing.T, fresh func(t *testing.T) (store.Config, func() (*sql.DB, error))) {
	config := func(t *testing.T) store.Config { c, _ := fresh(t); return c }
	t.Run("reopening keeps all", func(t *testing.T) { testReopen(t, config(t)) })
	t.Run("instances open a new store at once", func(t *testing.T) { testOpenAtOnce(t, config(t)) })
	t.Run("a newer schema is opened if it is compatible", func(t *testing.T) { testNewerSchema(t, fresh) })
	t.Run("a store reports whether it is ready", func(t *testing.T) { testPing(t, fresh) })
	t.Run("the audit log is only added to", func(t *testing.T) { testAppendOnly(t, fresh) })
	t.Run("what was acknowledged survives a kill", func(t *testing.T) { testKill(t, config) })
	t.Run("closing lets writes finish", func(t *testing.T) { testClose(t, config(t)) })
}

func testReopen(t *testing.T, c store.Config) {
	ctx := t.Context()
	first := reply(store.Open(ctx, c)).get(t)
	must(t, insertFixture(t.Context(), first))
	admin := newUser("admin")
	must(t, first.Apply(ctx, create(admin)))
	run, key := newRun(), newCredential(admin.ID)
	must(t, first.Commit(ctx, run, authorized([]schemas.Change{schemas.CreateCredential{Credential: key}})))
	must(t, first.Close())

	again := Open(t, c)
	reply(again.Run(ctx, run.ID)).equals(t, "the run", run)
	reply(again.Credential(ctx, key.ID)).equals(t, "the passkey", &key)
	reply(again.UserByAttribute(ctx, "", "username", "ADMIN")).equals(t, "the user", &admin)
}

// testOpenAtOnce opens a new store on several instances concurrently, and then uses it on all of
// them.
func testOpenAtOnce(t *testing.T, c store.Config) {
	const instances = 4
	var stores [instances]*store.Store
	var failures [instances]error
	together(instances, func(i int) { stores[i], failures[i] = store.Open(t.Context(), c) })
	must(t, errors.Join(failures[:]...))
	run := newRun()
	var won [instances]bool
	together(instances, func(i int) { won[i] = stores[i].Commit(t.Context(), run, nil) == nil })
	winners := 0
	for i, s := range stores {
		if won[i] {
			winners++
		}
		reply(s.Run(t.Context(), run.ID)).get(t)
		must(t, s.Close())
	}
	wantEqual(t, "the number of winners", winners, 1)
}

// testNewerSchema migrates the schema of an open store with a newer program: first compatibly, then
// incompatibly.
func testNewerSchema(t *testing.T, fresh func(t *testing.T) (store.Config, func() (*sql.DB, error))) {
	c, direct := fresh(t)
	running := reply(store.Open(t.Context(), c)).get(t)
	db := reply(direct()).get(t)
	migrate := func(statement string) { reply(db.ExecContext(t.Context(), statement)).get(t) }
	migrate("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99998, true)")
	must(t, running.Ping(t.Context()))
	started := reply(store.Open(t.Context(), c)).get(t)
	must(t, started.Ping(t.Context()))
	must(t, started.Close())

	migrate("UPDATE store_state SET value = 99999 WHERE name = 'compatible_from'")
	migrate("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
	must(t, db.Close())
	refused := []error{running.Ping(t.Context())}
	must(t, running.Close())
	s, err := store.Open(t.Context(), c)
	if err == nil {
		t.Fatal(errors.Join(errors.New("a store with an incompatible schema was opened"), s.Close()))
	}
	for _, err := range append(refused, err) {
		if err == nil || !strings.Contains(err.Error(), "99999") || !strings.Contains(err.Error(), "newer version") {
			t.Errorf("%v does not contain the schema's version and what to do", err)
		}
	}
}

// testPing pings a store that is ready, one with an older schema than it needs, and a closed one.
func testPing(t *testing.T, fresh func(t *testing.T) (store.Config, func() (*sql.DB, error))) {
	c, direct := fresh(t)
	s := reply(store.Open(t.Context(), c)).get(t)
	must(t, s.Ping(t.Context()))
	db := reply(direct()).get(t)
	_, err := db.ExecContext(t.Context(), "DELETE FROM goose_db_version WHERE version_id > 0")
	must(t, errors.Join(err, db.Close()))
	if err := s.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "schema version 0") {
		t.Errorf("a store without its schema answers %v", err)
	}
	must(t, s.Close())
	if s.Ping(t.Context()) == nil {
		t.Error("a closed store is ready")
	}
}

// testAppendOnly tries to change the audit log directly in the database.
func testAppendOnly(t *testing.T, fresh func(t *testing.T) (store.Config, func() (*sql.DB, error))) {
	c, direct := fresh(t)
	s := Open(t, c)
	want := schemas.Event{ID: schemas.NewID(), At: noon(), Action: "role.replaced", UserID: annID}
	old := schemas.Event{At: noon().Add(-time.Microsecond), Action: "role.created"}
	must(t, s.Apply(t.Context(), []schemas.Change{schemas.RecordEvent{Event: want}, schemas.RecordEvent{Event: old}}))
	wantEqual(t, "the number of old events, which may go", trimAll(t, s, noon(), noon().Add(time.Hour)), 1)
	db := reply(direct()).get(t)
	for _, statement := range []string{"UPDATE events SET user_id = 'somebody else'", "UPDATE events SET at = 0 WHERE action = 'role.replaced'",
		"DELETE FROM events", "DELETE FROM events WHERE id = '" + want.ID + "'", "TRUNCATE events"} {
		if _, err := db.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("%s was done", statement)
		}
	}
	must(t, db.Close())
	wantEvents(t, s, schemas.EventQuery{Limit: 10, Action: want.Action}, []schemas.Event{want})
	// The same event twice is refused, and what came with it does not happen.
	again := []schemas.Change{schemas.RevokeToken{ID: "t", ExpiresAt: noon()}, schemas.RecordEvent{Event: want}}
	if err := s.Apply(t.Context(), again); err == nil {
		t.Error("an event was recorded twice")
	}
	reply(s.TokenLive(t.Context(), schemas.TokenRef{ID: "t"})).equals(t, "whether the token counts", true)
}

// testClose closes a store during writes: each acknowledged write is stored, and no failed write
// is.
func testClose(t *testing.T, c store.Config) {
	const writers = 32
	s := reply(store.Open(t.Context(), c)).get(t)
	var runs [writers]*schemas.Run
	var failures [writers]error
	together(writers+1, func(i int) {
		if i == writers {
			check(t, s.Close())
			return
		}
		runs[i] = newRun()
		failures[i] = s.Commit(context.Background(), runs[i], nil)
	})
	again := Open(t, c)
	for i, run := range runs {
		_, err := again.Run(t.Context(), run.ID)
		if (err == nil) != (failures[i] == nil) {
			t.Errorf("write %d was answered with %v, and reading it gives %v", i, failures[i], err)
		}
	}
}

// Where these are set, the test binary is the child that testKill kills.
const (
	childDriver = "POSTERN_STORETEST_DRIVER"
	childDSN    = "POSTERN_STORETEST_DSN"
)

// testKill starts this test in a process that commits and prints acknowledged runs, kills the
// process, and looks for everything it printed.
func testKill(t *testing.T, config func(*testing.T) store.Config) {
	if driver := os.Getenv(childDriver); driver != "" {
		commitForever(t, store.Config{Driver: driver, DSN: os.Getenv(childDSN)})
	}
	const rounds, acknowledgements = 3, 200
	c := config(t)
	pattern := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	var acknowledged []string
	for range rounds {
		cmd := exec.Command(os.Args[0], "-test.run", pattern)
		cmd.Env = append(os.Environ(), childDriver+"="+c.Driver, childDSN+"="+c.DSN)
		out := reply(cmd.StdoutPipe()).get(t)
		must(t, cmd.Start())
		acknowledged = append(acknowledged, killAfter(t, cmd, bufio.NewScanner(out), acknowledgements)...)
	}
	s := Open(t, c)
	for _, id := range acknowledged {
		got, err := s.Run(t.Context(), id)
		if err != nil {
			t.Fatalf("of %d acknowledged commits %s is lost: %v", len(acknowledged), id, err)
		}
		reply(s.User(t.Context(), got.UserID)).get(t)
	}
}

// killAfter kills the child once it has printed n ids, and returns all it
// printed.
func killAfter(t *testing.T, cmd *exec.Cmd, out *bufio.Scanner, n int) (ids []string) {
	t.Helper()
	for out.Scan() {
		if id, ok := strings.CutPrefix(out.Text(), "committed "); ok && strings.HasSuffix(id, ".") {
			ids = append(ids, strings.TrimSuffix(id, "."))
		}
		if len(ids) == n {
			must(t, cmd.Process.Kill())
		}
	}
	cmd.Wait() // always an error: it was killed
	if len(ids) < n {
		t.Fatalf("the child ended by itself after %d commits: %s", len(ids), out.Text())
	}
	return ids
}

// commitForever commits from several goroutines and prints each run once its
// commit is acknowledged, until the process is killed.
func commitForever(t *testing.T, c store.Config) {
	s := reply(store.Open(t.Context(), c)).get(t)
	must(t, insertFixture(t.Context(), s))
	together(8, func(int) {
		for {
			u, run := newUser(""), newRun()
			run.UserID = u.ID
			if err := s.Commit(t.Context(), run, create(u)); err != nil {
				fmt.Println("failed:", err)
				os.Exit(1)
			}
			os.Stdout.WriteString("committed " + run.ID + ".\n")
		}
	})
}
