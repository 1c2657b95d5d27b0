package store_test

import (
	"database/sql"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// The ids that the first version gave to what it seeded, and a few others.
const (
	unitID    = "01900000-0000-7000-8000-000000000010"
	adminsID  = "01900000-0000-7000-8000-000000000040"
	consoleID = "01900000-0000-7000-8000-000000000001"
	rootID    = "01a00000-0000-7000-8000-000000000001"
	annID     = "01a00000-0000-7000-8000-000000000002"
	flowID    = "01a00000-0000-7000-8000-000000000003"
	runID     = "01a00000-0000-7000-8000-000000000004"
)

// firstVersion is what a store of the first version may have held. Of the two
// users one may do everything.
const firstVersion = `
INSERT INTO users VALUES ('` + rootID + `', 'Person', '` + unitID + `', '{"username":"Admin"}', 1000000, 2000000);
INSERT INTO users VALUES ('` + annID + `', 'Customer', 'nowhere', '{"email":"ann@example.com"}', 1000000, 2000000);
INSERT INTO user_identifiers VALUES ('admin', '` + rootID + `'), ('ann@example.com', '` + annID + `');
INSERT INTO passwords VALUES ('` + rootID + `', '$argon2id$x', 1000000);
INSERT INTO user_permissions VALUES ('` + rootID + `', 'system');
INSERT INTO credentials (id, user_id, name, rp_id, public_key, algorithm, attestation_format, aaguid, attachment,
	sign_count, user_verified, backup_eligible, backup_state, created_at)
	VALUES (CAST('key' AS BLOB), '` + annID + `', 'Key', 'example.com', CAST('cose' AS BLOB), -7, 'none', '', '', 1, TRUE, TRUE, FALSE, 1000000);
INSERT INTO passkey_sessions VALUES ('` + annID + `', 'authentication', CAST('hash' AS BLOB), '{}', 9000000);
INSERT INTO flows VALUES ('` + flowID + `', 'AUTHENTICATION', 'in', 2, 2, FALSE, 1000000);
INSERT INTO flow_versions VALUES ('` + flowID + `', 1, 'in', 'In', '{"nodes":[]}', 1000000), ('` + flowID + `', 2, 'in', 'In', '{"nodes":[]}', 2000000);
INSERT INTO applications VALUES ('` + consoleID + `', 'Console', '', '` + unitID + `', '', '', '', '', '` + flowID + `', 'gone', TRUE,
	NULL, NULL, 0, NULL, NULL, 'CONSOLE', 1000000, 2000000);
INSERT INTO runs VALUES ('` + runID + `', 3, 'INCOMPLETE', '` + flowID + `', 1, '` + consoleID + `', '', 'who', '{}', 1000000, 2000000, 9000000);
INSERT INTO events VALUES (1000000, 'e1', 'store.seeded', '` + rootID + `', '', '', '', NULL), (2000000, 'e2', 'user.signed_in', '` + annID + `', 'app', 'run', 'trace', '{"a":"b"}');
INSERT INTO signing_keys VALUES ('k1', 'ES256', CAST('sealed' AS BLOB), 'signing', 1000000);
INSERT INTO seeding VALUES (1, 1000000)`

// openUpgraded opens a store of the first version that holds what the statements
// insert.
func openUpgraded(t *testing.T, c store.Config, statements string) *store.Store {
	t.Helper()
	storetest.FirstVersion(t, c, statements)
	s, err := store.Open(t.Context(), c)
	noError(t, err)
	t.Cleanup(func() { noError(t, s.Close()) })
	return s
}

func TestUpgrade(t *testing.T) {
	sequential(t)
	for name, where := range databases() {
		t.Run(name, func(t *testing.T) {
			s := openUpgraded(t, where(t), firstVersion)
			testUpgradedUsers(t, s)
			testUpgradedSignIns(t, s)
			testUpgradedAdministrators(t, s)
			testUpgradedWrites(t, s)
		})
	}
}

func testUpgradedUsers(t *testing.T, s *store.Store) {
	at := func(us int64) time.Time { return time.UnixMicro(us).UTC() }
	root := schemas.User{ID: rootID, Type: "Person", OUID: unitID, Attributes: map[string]any{"username": "Admin"}, Status: schemas.UserActive, CreatedAt: at(1000000), UpdatedAt: at(2000000)}
	ann := schemas.User{ID: annID, Type: "Customer", OUID: "nowhere", Attributes: map[string]any{"email": "ann@example.com"}, Status: schemas.UserActive, CreatedAt: at(1000000), UpdatedAt: at(2000000)}
	users, err := store.Users().List(t.Context(), s, store.Page{Limit: 10})
	noError(t, err)
	equal(t, "the users", users, []schemas.User{root, ann})
	n, err := store.Users().Count(t.Context(), s, store.Page{})
	noError(t, err)
	equal(t, "the number of users", n, 2)
	found, err := s.UserByAttribute(t.Context(), "", "username", "admin")
	noError(t, err)
	equal(t, "the administrator by name", found, &root)
	password, err := s.Password(t.Context(), rootID)
	noError(t, err)
	equal(t, "the password", password.Hash, "$argon2id$x")
	keys, err := s.Credentials(t.Context(), annID)
	noError(t, err)
	equal(t, "the passkeys", []any{len(keys), string(keys[0].ID), keys[0].Name}, []any{1, "key", "Key"})
}

func testUpgradedSignIns(t *testing.T, s *store.Store) {
	app, err := s.ApplicationByClientID(t.Context(), "CONSOLE")
	noError(t, err)
	equal(t, "the application", []any{app.ID, app.OUID, app.AuthFlowID, app.RegistrationFlowID, app.InboundAuthConfig == nil},
		[]any{consoleID, unitID, flowID, "gone", true})
	versions, err := store.Flows().Versions(t.Context(), s, flowID, time.UnixMicro(0), store.Page{Limit: 10})
	noError(t, err)
	equal(t, "the number of versions", len(versions), 2)
	run, err := s.Run(t.Context(), runID)
	noError(t, err)
	equal(t, "the run", []any{run.Revision, run.Node, string(run.State)}, []any{int64(3), "who", "{}"})
	_, err = s.TakePasskeySession(t.Context(), []byte("hash"), time.UnixMicro(8000000))
	noError(t, err)
	events, err := s.Events(t.Context(), schemas.EventQuery{Limit: 10, UserID: annID})
	noError(t, err)
	equal(t, "the events", events, []schemas.Event{{ID: "e2", At: time.UnixMicro(2000000).UTC(), Action: "user.signed_in", UserID: annID,
		ApplicationID: "app", ExecutionDigest: schemas.DigestExecution("run"), TraceID: "trace", Detail: map[string]string{"a": "b"}}})
	keys, err := s.SigningKeys(t.Context())
	noError(t, err)
	equal(t, "the signing keys", []any{len(keys), keys[0].ID, string(keys[0].Private), keys[0].SignsSince}, []any{1, "k1", "sealed", time.UnixMicro(1000000).UTC()})
	// The lifetime of its tokens is unknown; it is at most a year.
	if year := time.Now().Add(365 * 24 * time.Hour); keys[0].NeededUntil.Before(year) {
		t.Errorf("the signing key is needed until %v, expected at least %v", keys[0].NeededUntil, year)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, expected %+v", what, got, want)
	}
}

// testUpgradedAdministrators checks that exactly the users with all permissions are
// administrators.
func testUpgradedAdministrators(t *testing.T, s *store.Store) {
	unit, err := store.Units().Get(t.Context(), s, unitID)
	noError(t, err)
	equal(t, "the unit", unit.Handle, "default")
	group, err := store.Groups().Get(t.Context(), s, adminsID)
	noError(t, err)
	equal(t, "the administrators", group.Members, []schemas.Principal{{Type: schemas.UserPrincipal, ID: rootID}})
	equal(t, "the unit of the administrators", group.OUID, unitID)

	everything := schemas.ResourceServer{ID: schemas.NewID(), Handle: "system", OUID: unitID}
	role := schemas.Role{ID: schemas.NewID(), Name: "Administrator", OUID: unitID, Permissions: []string{"system"},
		Assignments: []schemas.Principal{{Type: schemas.GroupPrincipal, ID: adminsID}}}
	noError(t, s.Update(t.Context(), func(tx *store.Tx) error {
		noError(t, store.ResourceServers().Insert(tx, &everything))
		return store.Roles().Insert(tx, &role)
	}))
	for id, want := range map[string][]string{rootID: {"system"}, annID: nil} {
		permissions, err := s.Permissions(t.Context(), id)
		noError(t, err)
		equal(t, "the permissions of "+id, permissions, want)
	}
}

// testUpgradedWrites goes on working with what names things that are not there
// yet: people sign in, and change; but nothing new may name them.
func testUpgradedWrites(t *testing.T, s *store.Store) {
	now := time.UnixMicro(3000000).UTC()
	noError(t, s.Apply(t.Context(), []schemas.Change{
		schemas.UseCredential{ID: schemas.Bytes("key"), SignCount: 2, At: now},
		schemas.StartSession{Session: schemas.Session{ID: "s1", UserID: annID, CreatedAt: now, ExpiresAt: now}},
	}))
	change := func(edit func(*schemas.User)) error {
		return s.Update(t.Context(), func(tx *store.Tx) error {
			ann, err := store.Users().Get(t.Context(), tx, annID)
			if err != nil {
				return err
			}
			was := ann.UpdatedAt
			ann.UpdatedAt = was.Add(time.Second)
			edit(ann)
			return store.Users().Replace(tx, ann, was)
		})
	}
	noError(t, change(func(ann *schemas.User) { ann.Attributes["given_name"] = "Ann" }))
	for _, edit := range []func(*schemas.User){
		func(ann *schemas.User) { ann.Type = "Nobody" },
		func(ann *schemas.User) { ann.OUID = "elsewhere" },
	} {
		if err := change(edit); !schemas.HasClass(err, schemas.Conflict) {
			t.Errorf("a user who names what is not there was kept: %v", err)
		}
	}
	another := schemas.User{ID: schemas.NewID(), Type: "Customer", OUID: unitID}
	if err := s.Apply(t.Context(), []schemas.Change{schemas.CreateUser{User: another}}); !schemas.HasClass(err, schemas.Conflict) {
		t.Errorf("a user of a type that is not there was created: %v", err)
	}
}

// TestUpgradeWithoutAdministrators upgrades a store without permissions: no user has one
// afterwards.
func TestUpgradeWithoutAdministrators(t *testing.T) {
	sequential(t)
	for name, where := range databases() {
		t.Run(name, func(t *testing.T) {
			s := openUpgraded(t, where(t), strings.ReplaceAll(firstVersion, "'system'", "'something'"))
			for _, count := range []func() (int, error){
				func() (int, error) { return store.Groups().Count(t.Context(), s, store.Page{}) },
				func() (int, error) { return store.Units().Count(t.Context(), s, store.Page{}) },
			} {
				n, err := count()
				noError(t, err)
				equal(t, "the number of groups and units", n, 0)
			}
		})
	}
}

// TestAudit01UpgradeHidesExecutionIDs upgrades a store whose audit log has the id of a run
// that is under way: the log has its digest afterwards, and still cannot be changed.
func TestAudit01UpgradeHidesExecutionIDs(t *testing.T) {
	sequential(t)
	statements := firstVersion + `;
INSERT INTO events VALUES (3000000, 'e3', 'password.used', '` + annID + `', 'app', '` + runID + `', 'trace', NULL)`
	for name, where := range databases() {
		t.Run(name, func(t *testing.T) {
			c := where(t)
			s := openUpgraded(t, c, statements)
			events, err := s.Events(t.Context(), schemas.EventQuery{Limit: 10, ExecutionDigest: schemas.DigestExecution(runID)})
			noError(t, err)
			if len(events) != 1 || events[0].ID != "e3" {
				t.Errorf("the events of the run are %+v", events)
			}
			events, err = s.Events(t.Context(), schemas.EventQuery{Limit: 10, Action: "store.seeded"})
			noError(t, err)
			equal(t, "the digest of an event of no run", events[0].ExecutionDigest, "")
			db, err := sql.Open(c.Driver, c.DSN)
			noError(t, err)
			defer db.Close()
			var n int
			noError(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM events WHERE execution_id = '"+runID+"'").Scan(&n))
			equal(t, "the number of events with the id of the run", n, 0)
			if _, err := db.ExecContext(t.Context(), "UPDATE events SET execution_id = ''"); err == nil {
				t.Error("the audit log can be changed")
			}
		})
	}
}
