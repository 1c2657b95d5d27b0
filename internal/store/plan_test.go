package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// readQueries returns the queries of the reads of sign-ins.
func readQueries() []string {
	return []string{
		selectRun, selectUser, selectUserByIdentifier, selectPassword, selectPermissions, selectGroups, selectRoles,
		selectCredential, selectCredentials,
		selectApplicationPermissions, selectRegisteredScopes, selectTokenLive, selectTokenPermissions, selectSession, selectSessionUse, selectSessionByToken, selectBrowserSession, selectNewestSession,
		selectAuthRequest, selectAuthRequestByCode, selectFamily, selectRedirects, selectOwnName,
		selectConsent, selectPermissionWord, selectRunValues, selectServerClaims,
		selectTOTP, selectRecoveryCode, selectRecoveryCodes, selectProtection,
		selectIdentityProvider, selectIdentity, selectIdentities,
		selectApplication, selectRevision, selectApplicationByClient, selectClientRevision, selectClientRevisionAhead, selectRunAhead, selectAuthRequestAhead, selectCredentialAhead, selectRunWithPasskey, selectCodeAhead, selectFamilyAhead, selectTokenAccount, selectSessionUser, selectClientExpiry,
		selectActiveVersion, selectFlowVersion, selectVersions,
		selectFailedGuesses, selectEventCounts, selectUncounted,
		countPendingRuns, countPendingRequests, countPendingSessions,
		selectKeys, selectExpiredDeliveries, selectInstances,
	}
}

// writeQueries returns the queries of the writes of sign-ins.
func writeQueries() []string {
	return []string{
		upsertInstance, deleteInstance, deleteOldInstances,
		insertRun, updateRun, deleteUnansweredRuns,
		insertUser, selectTypeRules, selectTypeOfUser, insertIdentifier, insertUniqueValue, upsertPassword, updatePasswordHash,
		insertCredential, updateCredentialUse, updateCredentialName, deleteCredential,
		insertSession, deleteSession, lockSession, insertSessionClient, selectSessionClients, insertRevokedToken,
		bindSession, upsertSessionUse, nameBrowser, selectSessionsWithBrowser, unbindSession, touchSession, prolongSession,
		insertAuthRequest, selectOpen, updateGrant, updateApproval, updateRefusal, updateCode, updateRedeemed, selectRedeemed,
		insertFamily, selectFamily, deleteFamily, insertOffline, deleteOffline, rotateFamily, insertRunValues, moveRunValues, deleteRunValues,
		upsertPasskeySession, deletePasskeySession,
		insertFlow, selectFormerVersion, insertFlowVersion, updateVersionAuthor, insertFlowUse, advanceFlow, selectFlowClash,
		insertClientAssertion,
		insertKey, insertEvent, raiseKeptFrom, deleteOldEvents, deleteOldUnsealed, deleteOldSeals, deleteOldCounts, insertSeeding,
		extendClientExpiry,
		insertLink, takeLink, deleteLinks,
		insertDelivery, claimDelivery, putOffDelivery, deleteDelivery, giveUpDelivery,
		upsertConsent,
		insertTOTP, updateTOTPUse, deleteTOTP,
		insertRecoveryCode, updateRecoveryCodeUse, deleteRecoveryCodes,
		upsertIdentity, selectIssuer, updateIdentityUse, deleteIdentity,
		upsertFailedGuess, deleteFailedGuesses, deleteFailedGuessesAt, deleteOldFailedGuesses,
		lockUser, updateUserAttributes, deleteIdentifiers, deleteUniqueValues, deleteEmails,
		deleteIdentifier, insertEmail, selectEmailHolders,
		shareUser, shareSession, selectTokenLive, selectProofPassword, selectProofPasskey, selectProofTOTP, selectProofRecovery, selectProofIdentity, selectProofSession, selectUser,
		selectOwnSessions, updateSessionProofs, deleteOtherRuns, selectCredentialOwner, selectIdentityOwner,
	}
}

// TestPointReadsUseIndexes: a read whose cost grows with the table would show
// only when the table has grown.
func TestPointReadsUseIndexes(t *testing.T) {
	s := openFile(t)
	whole := map[string]bool{selectKeys: true, selectRedirects: true,
		beginSavepoint: true, undoSavepoint: true, endSavepoint: true}
	for _, list := range [][]string{readQueries(), writeQueries(), sweepQueries(), sweepRefusals()} {
		for _, q := range list {
			if whole[q] {
				continue
			}
			asked := inDialect("sqlite", q)
			for _, step := range wholeTables(t, s, asked, plan(t, s, asked)) {
				t.Errorf("%s\nreads a whole table: %s", q, step)
			}
		}
	}
}

// TestListsUseIndexes: a page costs what is on it, wherever it is in the list and
// whatever the list is filtered by.
func TestListsUseIndexes(t *testing.T) {
	s := openFile(t)
	populate(t, s)
	received := &listener{Store: s}
	lists(t, received, Units())
	lists(t, received, UserTypes())
	lists(t, received, Users())
	lists(t, received, Groups())
	lists(t, received, ResourceServers())
	lists(t, received, Roles())
	lists(t, received, Applications())
	lists(t, received, IdentityProviders())
	for _, member := range append(Flows().Filters(), "") {
		_, err := Flows().List(t.Context(), received, Page{After: "0", Limit: 3, Member: member, Value: "x"})
		noError(t, err)
	}
	_, err := Flows().Versions(t.Context(), received, "x", time.Now(), Page{Limit: 3})
	noError(t, err)
	_, _, err = Groups().Principals(t.Context(), received, "team", PrincipalPage{Limit: 3})
	noError(t, err)
	_, _, err = Roles().Principals(t.Context(), received, "clerk", PrincipalPage{Limit: 3})
	noError(t, err)
	for _, q := range received.queries {
		steps := plan(t, s, q)
		for _, step := range wholeTables(t, s, q, steps) {
			t.Errorf("%s\nreads a whole table: %s", q, step)
		}
		if strings.Contains(q, " = ? AND ") && !strings.Contains(steps[0], "=?") {
			t.Errorf("%s\nreads all that comes after: %q", q, steps)
		}
		if sorts(steps) {
			t.Errorf("%s\nsorts what it has found: %q", q, steps)
		}
	}
}

// lists asks for all kinds of pages of a table.
func lists[T any](t *testing.T, received *listener, of *Table[T]) {
	t.Helper()
	found, err := of.List(t.Context(), received, Page{Limit: 3}) // with what completes it
	noError(t, err)
	if len(found) == 0 {
		t.Errorf("there are no %ss to list", of.noun)
	}
	for _, member := range append(of.Filters(), "") {
		p := Page{After: "0", Limit: 3, Offset: 1, Member: member, Value: "x"}
		_, err := of.List(t.Context(), received, p)
		noError(t, err)
		_, err = of.Find(t.Context(), received, of.Filters()[0], "x")
		noError(t, err)
		if slices.Contains(of.Prefixes(), member) {
			p.Prefix = true
			_, err = of.List(t.Context(), received, p)
			noError(t, err)
			_, err = of.Count(t.Context(), received, p)
			noError(t, err)
			p.Prefix = false
		}
		if member != "" || len(of.counted) > 0 {
			_, err = of.Count(t.Context(), received, p)
			noError(t, err)
		}
	}
	_, err = of.Get(t.Context(), received, "x")
	if !schemas.HasClass(err, schemas.NotFound) {
		t.Error(err)
	}
}

// TestEventsUseIndexes: what the audit log is asked for is found in its order,
// and by most members without going through it.
func TestEventsUseIndexes(t *testing.T) {
	s := openFile(t)
	before := schemas.EventKey{At: time.Now(), ID: "x"}
	for _, test := range []struct {
		query   schemas.EventQuery
		indexes []string // none if the log is read backwards
	}{
		{schemas.EventQuery{UserID: "x"}, []string{"events_user"}},
		{schemas.EventQuery{ActorID: "x"}, []string{"events_user", "events_actor"}},
		{schemas.EventQuery{Action: "role.replaced"}, []string{"events_action"}},
		{schemas.EventQuery{ResourceType: "x"}, []string{"events_resource_type"}},
		{schemas.EventQuery{ResourceID: "x"}, []string{"events_resource"}},
		{schemas.EventQuery{From: time.Now(), To: time.Now()}, []string{"PRIMARY KEY"}},
		{schemas.EventQuery{Action: "user.signed_in"}, nil},
		{schemas.EventQuery{ApplicationID: "x"}, nil},
		{schemas.EventQuery{TraceID: "x"}, nil},
		{schemas.EventQuery{}, nil},
	} {
		for _, test.query.Before = range []schemas.EventKey{{}, before} {
			received := &listener{Store: s}
			_, err := events(t.Context(), received, test.query)
			noError(t, err)
			steps := plan(t, s, received.queries[0])
			if sorts(steps) {
				t.Errorf("%s\nsorts what it has found: %q", received.queries[0], steps)
			}
			if whole := wholeTables(t, s, received.queries[0], steps); len(whole) > 0 && len(test.indexes) > 0 {
				t.Errorf("%s\nreads the whole log: %q", received.queries[0], whole)
			}
			for _, index := range test.indexes {
				if !strings.Contains(strings.Join(steps, "\n"), " "+index+" (") {
					t.Errorf("%s\nis answered by %q, expected %s", received.queries[0], steps, index)
				}
			}
		}
	}
}

// TestRulesUseIndexes has what the rules of the directory ask for.
func TestRulesUseIndexes(t *testing.T) {
	s := openFile(t)
	received := &listener{Store: s}
	for _, kind := range []schemas.PrincipalType{schemas.UserPrincipal, schemas.GroupPrincipal, schemas.ApplicationPrincipal} {
		_, err := PermissionsOf(t.Context(), received, schemas.Principal{Type: kind, ID: "x"})
		noError(t, err)
	}
	_, err := ProviderPermissions(t.Context(), received, "x")
	noError(t, err)
	_, err = PermissionHolders(t.Context(), received, "a:b:c", 2)
	noError(t, err)
	_, err = ActiveHolders(t.Context(), received, "a:b:c", time.Now(), 2)
	noError(t, err)
	_, err = SessionsOf(t.Context(), received, "x", time.Now())
	noError(t, err)
	_, err = CredentialsOf(t.Context(), received, "x")
	noError(t, err)
	_, err = HasPassword(t.Context(), received, "x")
	noError(t, err)
	_, err = IdentitiesOf(t.Context(), received, "x")
	noError(t, err)
	_, err = CountIdentities(t.Context(), received, "x")
	noError(t, err)
	ann := schemas.User{Attributes: map[string]any{"username": "ann", "badge": 1}}
	_, err = TakenAttributes(t.Context(), received, &ann, []string{"badge"})
	noError(t, err)
	for _, noun := range []string{"user", "group", "application", "userType", "permission"} {
		_, err = ExistingKeys(t.Context(), received, noun, []string{"x", "y"})
		noError(t, err)
	}
	_, err = NounOf(t.Context(), received, "x")
	noError(t, err)
	_, err = GroupsAbove(t.Context(), received, "x")
	noError(t, err)
	for _, q := range received.queries {
		for _, step := range wholeTables(t, s, q, plan(t, s, q)) {
			t.Errorf("%s\nreads a whole table: %s", q, step)
		}
	}
}

// listener is a Reader that remembers what it was asked.
type listener struct {
	*Store
	queries []string
}

func (l *listener) query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	l.queries = append(l.queries, q)
	return l.Store.query(ctx, q, args...)
}

// populate adds one resource of each kind, with what belongs to it.
func populate(t *testing.T, s *Store) {
	t.Helper()
	unit := schemas.OrganizationUnit{ID: "unit", Handle: "home"}
	person := schemas.UserType{ID: "type", Name: "Person", OUID: "unit", Schema: json.RawMessage("{}")}
	ann := schemas.User{ID: "ann", Type: "Person", OUID: "unit", Attributes: map[string]any{"username": "ann"}}
	team := schemas.Group{ID: "team", Name: "team", OUID: "unit", Members: []schemas.Principal{{Type: schemas.UserPrincipal, ID: "ann"}}}
	shop := schemas.ResourceServer{ID: "shop", Handle: "shop", OUID: "unit"}
	clerk := schemas.Role{ID: "clerk", Name: "clerk", OUID: "unit", Permissions: []string{"shop"}}
	app := schemas.Application{ID: "app", Name: "app", OUID: "unit"}
	corp := schemas.IdentityProvider{ID: "corp", Handle: "corp"}
	noError(t, s.Update(t.Context(), func(tx *Tx) error {
		noError(t, Units().Insert(tx, &unit))
		noError(t, UserTypes().Insert(tx, &person))
		noError(t, Users().Insert(tx, &ann))
		noError(t, Groups().Insert(tx, &team))
		noError(t, ResourceServers().Insert(tx, &shop))
		noError(t, Roles().Insert(tx, &clerk))
		noError(t, IdentityProviders().Insert(tx, &corp))
		return Applications().Insert(tx, &app)
	}))
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sorts reports whether a plan sorts rows instead of reading them in order.
func sorts(steps []string) bool {
	return slices.ContainsFunc(steps, func(step string) bool { return strings.Contains(step, "TEMP B-TREE") })
}

// wholeTables returns the steps of a plan that read every row of a table, by
// whatever name the query calls it. The rows of a common table expression are
// what the query has found itself.
func wholeTables(t *testing.T, s *Store, q string, steps []string) (whole []string) {
	t.Helper()
	var tables []string
	if err := s.db.SelectContext(t.Context(), &tables, "SELECT name FROM sqlite_schema WHERE type = 'table'"); err != nil || len(tables) < 20 {
		t.Fatalf("the tables are %q (%v)", tables, err)
	}
	for _, step := range steps {
		scanned, ok := strings.CutPrefix(step, "SCAN ")
		name, _, _ := strings.Cut(scanned, " ")
		isTable := slices.ContainsFunc(tables, func(table string) bool {
			return name == table || regexp.MustCompile(`\b`+table+`\s+(AS\s+)?`+regexp.QuoteMeta(name)+`\b`).MatchString(q)
		})
		if ok && isTable {
			whole = append(whole, step)
		}
	}
	return whole
}

func plan(t *testing.T, s *Store, q string) (steps []string) {
	t.Helper()
	args := make([]any, strings.Count(q, "?"))
	rows, err := s.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+q, args...)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}
