package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
)

// An effect counts those that these statements add to a seeded store. ADMIN is the id of its
// administrator, NONE no bytes.
var effectCases = map[string]struct {
	add  []string
	want int
}{
	"administrators without a passkey who have had one": {want: 1, add: []string{
		`INSERT INTO events (at, id, action, user_id, application_id, execution_id, trace_id) VALUES (1, 'new', 'passkey.registered', ADMIN, '', '', '')`,
	}},
	"users whose authenticator app was never used since it was added, and who have no unused recovery code": {want: 1, add: []string{
		`INSERT INTO totp (user_id, secret, last_step, created_at) VALUES (ADMIN, NONE, 0, 1)`,
	}},
	"users with an authenticator app": {want: 1, add: []string{
		`INSERT INTO totp (user_id, secret, last_step, created_at, last_used_at) VALUES (ADMIN, NONE, 0, 1, 2)`,
	}},
	"applications without allowedUserTypes, in a store with types that have identifiers of their own": {want: 2, add: []string{
		`INSERT INTO user_types (id, name, description, ou_id, definition, created_at, updated_at, identifier_scope)
			SELECT 'new', 'Customer', '', ou_id, definition, 1, 1, 'userType' FROM user_types WHERE name = 'Person'`,
	}},
	"flows that read user.knowsBrowser without a strength": {want: 1, add: []string{
		`INSERT INTO flows (id, flow_type, handle, active_version, last_version, read_only, created_at) VALUES ('old', 'AUTHENTICATION', 'old', 2, 2, FALSE, 1), ('new', 'AUTHENTICATION', 'new', 1, 1, FALSE, 1)`,
		`INSERT INTO flow_versions (flow_id, version, handle, name, definition, created_at) VALUES
			('old', 1, 'old', 'Old', '{"nodes":[]}', 1), ('old', 2, 'old', 'Old', '{"nodes":[{"when":"!user.knowsBrowser && user.hasTotp"}]}', 1),
			('new', 1, 'new', 'New', '{"nodes":[{"when":"!user.knowsBrowser(\"mfa\")"}]}', 1)`,
	}},
}

// TestUpgradeEffects counts each effect in a store with a case of it: `migrate --plan` prints it before the
// upgrade, and doctor after it. Without the case it is not printed.
func TestUpgradeEffects(t *testing.T) {
	sequential(t)
	for i, e := range upgradeEffects {
		test, found := effectCases[e.affected]
		if !found {
			t.Errorf("the effect on %s has no case: add one to effectCases", e.affected)
			continue
		}
		for _, driver := range []string{"sqlite", "postgres"} {
			t.Run(fmt.Sprintf("%d %s", i, driver), func(t *testing.T) {
				dir := t.TempDir()
				environ := testEnvironment(dir)
				if driver == "postgres" {
					environ = append(environ, "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+storetest.Postgres(t))
				}
				w := newTestAppIn(t, environ)
				dsn := w.cfg.Database.DSN
				w.close()
				line := regexp.MustCompile(fmt.Sprintf(`\b%d %s`, test.want, regexp.QuoteMeta(e.affected)))
				wantPlan := func(want bool) {
					t.Helper()
					execute(t, driver, dsn, fmt.Sprintf("DELETE FROM goose_db_version WHERE version_id > %d", 47))
					if _, plan := runProgram(t, environ, "migrate", "--plan"); line.MatchString(plan) != want {
						t.Errorf("the plan reports %v, expected %v:\n%s", !want, want, plan)
					}
				}
				wantPlan(false)
				for _, statement := range test.add {
					execute(t, driver, dsn, strings.NewReplacer("ADMIN", "(SELECT user_id FROM user_identifiers WHERE value = 'admin')",
						"NONE", map[string]string{"sqlite": "X''", "postgres": "''"}[driver]).Replace(statement))
				}
				wantPlan(true)
				execute(t, driver, dsn, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)")
				if _, output := runProgram(t, environ, "doctor"); line.MatchString(output) != e.lasts {
					t.Errorf("doctor reports %v, expected %v:\n%s", !e.lasts, e.lasts, output)
				}
			})
		}
	}
}

// TestEffectsInOrder: what locks out comes first.
func TestEffectsInOrder(t *testing.T) {
	w := newTestApp(t)
	var list []upgradeEffect
	for i, locksOut := range []bool{false, true, false, true} {
		e := upgradeEffects[0]
		e.affected, e.locksOut = fmt.Sprint("row ", i), locksOut
		e.count = func(context.Context, store.Reader) (int, error) { return i, nil }
		list = append(list, e)
	}
	found, err := countEffects(t.Context(), w.store, list)
	var got []string
	for _, e := range found {
		got = append(got, e.affected)
	}
	if want := []string{"row 1", "row 3", "row 2"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the order is %q (%v), expected %q", got, err, want)
	}
	var out bytes.Buffer
	printEffects(&out, found)
	wantAll(t, out.String(), "What changes for users:\n", "      1 row 1\n", "can lock users out")
	out.Reset()
	printEffects(&out, nil)
	wantAll(t, out.String(), "changes nothing for the users of this store")
}
