package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/postern-id/postern/internal/datatest"
)

// The attack tables of docs/security.md combine each value of one list with each value of
// another. Their lists come from the product where possible: the routes are those of
// server/testdata/routes.txt, which TestRoutes compares with the server.

// route is a route of the API.
type route struct{ method, path, needs string }

func (r route) String() string { return r.method + " " + r.path }

func readRoutes(t testing.TB) (list []route) {
	t.Helper()
	text := datatest.ReadFile(t, filepath.Join("..", "..", "server", "testdata", "routes.txt"))
	for line := range strings.Lines(string(text)) {
		request, needs, hasNeed := strings.Cut(strings.TrimSpace(line), " — ")
		method, path, hasPath := strings.Cut(request, " ")
		if !hasNeed || !hasPath {
			t.Fatalf("routes.txt has the line %q, expected METHOD PATH — NEED", line)
		}
		list = append(list, route{method, path, needs})
	}
	if len(list) < 100 {
		t.Fatalf("there are only %d routes", len(list))
	}
	return list
}

// attackTargets are the existing objects that the variables of a path name, so that an accepted
// request would have an effect.
type attackTargets struct {
	user, session string
	first         map[string]string // the first object of each collection, by path
}

func (w *testApp) attackTargets(t testing.TB, routes []route, user, session string) attackTargets {
	t.Helper()
	targets := attackTargets{user: user, session: session, first: map[string]string{}}
	admin := w.admin()
	for _, r := range routes {
		collection := strings.TrimSuffix(r.path, "/{id}")
		if collection == r.path || r.method != "GET" {
			continue
		}
		var page map[string]json.RawMessage
		if err := json.Unmarshal(w.call("GET", collection+"?limit=1", admin, "").Body.Bytes(), &page); err != nil {
			t.Fatalf("%s: %v", collection, err)
		}
		for _, member := range page {
			var objects []struct{ ID string }
			if json.Unmarshal(member, &objects) == nil && len(objects) > 0 && objects[0].ID != "" {
				targets.first[collection] = objects[0].ID
			}
		}
	}
	if len(targets.first) < 6 {
		t.Fatalf("only these collections have an object: %v", targets.first)
	}
	targets.first["/users"] = user
	return targets
}

// at is the path of a route with its variables replaced.
func (a attackTargets) at(r route) string {
	id := "7"
	for collection, first := range a.first {
		if strings.HasPrefix(r.path, collection+"/{id}") {
			id = first
		}
	}
	return strings.NewReplacer("{id}", id, "{type}", "user", "{principalId}", a.user, "{credentialId}", "AAAA", "{sid}", a.session,
		"{factor}", "totp", "{identityId}", "7", "{applicationId}", "7", "{n}", "1", "{document}", "idToken").Replace(r.path)
}

// bookkeeping are the tables that a refused request may change: the audit log, counts of rows and
// of failures, and the client assertions that were used.
func bookkeeping() []string {
	return []string{"events", "event_seals", "event_chain", "event_counts", "event_retention", "unsealed_events", "row_counts",
		"failed_guesses", "client_assertions", "client_leases", "instances"}
}

// storeWatch reports which tables of a server's SQLite database have changed.
type storeWatch struct {
	t       testing.TB
	db      *sqlx.DB
	ignored []string
	version int64
	digests map[string]string
}

// watchStore watches all tables except the ignored ones.
func (w *testApp) watchStore(t testing.TB, ignored ...string) *storeWatch {
	t.Helper()
	db, err := sqlx.Open(w.cfg.Database.Driver, w.cfg.Database.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1) // data_version is that of a connection
	s := &storeWatch{t: t, db: db, ignored: ignored, digests: map[string]string{}}
	s.changes()
	if len(s.digests) < 20 {
		t.Fatalf("only %d tables are watched", len(s.digests))
	}
	return s
}

// changes returns the tables that have changed since the last call.
func (s *storeWatch) changes() (changed []string) {
	s.t.Helper()
	var version int64
	if err := s.db.Get(&version, "PRAGMA data_version"); err != nil {
		s.t.Fatal(err)
	}
	if version == s.version {
		return nil
	}
	s.version = version
	var tables []string
	if err := s.db.Select(&tables, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"); err != nil {
		s.t.Fatal(err)
	}
	for _, table := range tables {
		if slices.Contains(s.ignored, table) {
			continue
		}
		digest := s.digest(table)
		if s.digests[table] != digest {
			changed = append(changed, table)
		}
		s.digests[table] = digest
	}
	return changed
}

// digest is a digest of the content of a table.
func (s *storeWatch) digest(table string) string {
	s.t.Helper()
	rows, err := s.db.Queryx("SELECT * FROM " + table)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	h := sha256.New()
	for rows.Next() {
		values, err := rows.SliceScan()
		if err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(h, "%q\n", values)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return string(h.Sum(nil))
}
