package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
)

// TestMigrate prints the plan for a store of an earlier version, which changes nothing, and migrates it.
func TestMigrate(t *testing.T) {
	sequential(t)
	for driver, dsn := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "store.db"), "postgres": storetest.Postgres(t)} {
		t.Run(driver, func(t *testing.T) {
			if err := store.MigrateTo(t.Context(), store.Config{Driver: driver, DSN: dsn}, 44); err != nil {
				t.Fatal(err)
			}
			migrate := func(want int, args ...string) string {
				t.Helper()
				var out, failed bytes.Buffer
				environ := append(testEnvironment(t.TempDir()), "POSTERN_DATABASE_DRIVER="+driver, "POSTERN_DATABASE_DSN="+dsn)
				code := program{args: append([]string{"migrate"}, args...), environ: environ, stdout: &out, stderr: &failed}.run(t.Context())
				if code != want {
					t.Fatalf("exit code %d, expected %d\n%s%s", code, want, out.String(), failed.String())
				}
				return out.String()
			}
			for range 2 {
				plan := migrate(exitFindings, "--plan")
				for _, want := range []string{"has schema version 44", "00046 version_authors: not compatible: ", "Stop the servers of earlier versions first"} {
					if !strings.Contains(plan, want) {
						t.Errorf("the plan has no %q:\n%s", want, plan)
					}
				}
				const lock = "runs: blocks writes while it builds an index"
				if strings.Contains(plan, lock) != (driver == "postgres") {
					t.Errorf("the plan for %s is:\n%s", driver, plan)
				}
			}
			migrate(exitFine)
			if plan := migrate(exitFine, "--plan"); !strings.Contains(plan, "There are no pending migrations.") {
				t.Errorf("the plan after the migration is:\n%s", plan)
			}
		})
	}
}
