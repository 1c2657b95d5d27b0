package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Run tests a store. fresh returns the location of a new and empty one.
func Run(t *testing.T, fresh func(t *testing.T) store.Config) {
	Runs(t, func(t *testing.T) RunStore { return Open(t, fresh(t)) })
	for _, test := range slices.Concat(ofUsers(), ofClients(), ofTheRest()) {
		t.Run(test.name, func(t *testing.T) { test.run(t, Open(t, fresh(t))) })
	}
	t.Run("tables", func(t *testing.T) { testTables(t, func(t *testing.T) *store.Store { return Open(t, fresh(t)) }) })
}

// test is a test of the suite. Its store contains the fixture.
type test struct {
	name string
	run  func(*testing.T, *store.Store)
}

// ofUsers are the tests of users, their credentials and their permissions.
func ofUsers() []test {
	return []test{
		{"passkey sessions are taken once", testTakeOnce},
		{"a newer passkey session voids the older", testVoid},
		{"an expired passkey session is refused", testExpiredSession},
		{"permissions that roles grant stay", testTreeInUse},
		{"roles grant what resource servers have", testPermissionWithoutResourceServer},
		{"permissions follow from roles", testPermissions},
		{"users belong to groups and roles", testMemberships},
		{"holders of a permission are found", testHolders},
		{"those who have a permission and may sign in are found", testActiveHolders},
		{"unique attributes are one user's", testUniqueAttributes},
		{"identifiers are unique in their scope", testIdentifierScopes},
		{"users are found by the start of an identifier", testPrefixes},
		{"a user is created while the scope changes", testScopeRace},
		{"unique attributes are one user's when they change", testUpdateUnique},
		{"of recovery codes given at once one set counts", testRecoveryCodeSets},
		{"what users prove themselves by goes with them", testFactorsGo},
		{"identities go with their user, not with their provider", testIdentitiesGo},
		{"what becomes unique is claimed", testReclaim},
		{"of users created at once one has the unique value", testUniqueRace},
		{"users and applications name what is there", testReferences},
		{"no user outlives their type", testReferenceRace},
		{"users are counted", testCounts},
		{"failed guesses are counted up to the limit", testFailedGuesses},
		{"failed guesses are counted at two counters", testCountersOfAGuess},
		{"exhausted guesses are recorded once", testExhaustedGuesses},
		{"failed guesses at unknown names are swept", testSweepFailedGuesses},
		{"permissions have words", testPermissionWords},
		{"passkeys are renamed and deleted", testCredentialChanges},
		{"a passkey replaces others", testRemoveCredentials},
		{"addresses are verified", testVerifyEmail},
		{"audit 02: an unverified address does not identify a user", testUnverifiedEmail},
		{"audit 02: an address goes to who verifies it", testEmailStated},
		{"audit 02: of users who verify one address at once one has it", testEmailRace},
		{"changes of unknown users are refused", testUnknownUser},
		{"the whole identifier counts", testOddIdentifiers},
		{"sessions end with the credential they rest on", testSessionsEndWithCredentials},
		{"the acting session lives on", testActingSession},
		{"a sign-in fails whose credential is removed meanwhile", testProofsRemovedMeanwhile},
		{"a new password ends sessions and runs", testPasswordEnds},
		{"audit 15: a user who is disabled or locked starts nothing", testInactiveUser},
		{"audit 15: access ends with sessions and runs", testEndAccess},
		{"signature counters grow", testMustGrow},
		{"accounts are changed with authority", testAuthority},
		{"an enrolment link adds one passkey", testEnrolmentLink},
		{"a new password marks what the former one added", testFormerPassword},
		{"what a former password added is found through other additions", testFormerChains},
		{"passkeys of the ways that earlier releases left open are found", testSuspects},
	}
}

// ofClients are the tests of clients, and of the sessions, consents and tokens that they get.
func ofClients() []test {
	return []test{
		{"applications are clients, or not", testClients},
		{"sessions start and end", testSessions},
		{"tokens count until they are revoked", testTokenLive},
		{"tokens count in the generation of their application", testTokenGenerations},
		{"authorization requests are granted to their browser", testAuthRequests},
		{"of those who grant a request one does", testGrantRace},
		{"approvals are kept with their requests", testApprovals},
		{"authorization requests are refused", testRefusals},
		{"consents are kept by scope", testConsents},
		{"events are counted before and after they are sealed", testEventCounts},
		{"each event is counted once while events are sealed", testEventCountsDuringSeals},
		{"the queue of deliveries is described", testQueuedDeliveries},
		{"units have the brand of the nearest one with a logo", testBrand},
		{"what came of a consent ends with it", testRevokedConsent},
		{"codes are redeemed once", testCodes},
		{"of those who redeem a code one does", testCodeRace},
		{"refresh tokens are rotated", testRefresh},
		{"those who refresh at once get the same token", testRefreshRace},
		{"browsers know their session", testBrowserSessions},
		{"codes store the session in the browser", testIssuedTokens},
		{"requests assume that their client has not changed", testAssumptions},
		{"requests of many clients assume that theirs has not changed", testAssumedClients},
		{"assertions of clients are used once", testClientAssertions},
		{"clients are notified of ended sessions", testLogouts},
		{"a sign-out ends the sessions of the browser", testSignOut},
		{"offline tokens end with the credential", testOfflineSessions},
		{"untrusted clients are notified of ended sessions for a limited time", testLogoutsOfUntrustedClients},
		{"clients get tokens or are notified, or neither", testLogoutRace},
		{"redirect URIs are listed", testRedirects},
		{"unused clients are swept", testLeases},
		{"self-registered clients are bounded", testUnusedClients},
		{"requests that read ahead read what is stored", testReadAhead},
		{"requests that name a passkey read ahead", testPasskeyAhead},
		{"requests that name a code read ahead", testCodeAhead},
		{"requests that name a refresh token read ahead", testFamilyAhead},
		{"requests with a token read its account ahead", testAccountAhead},
	}
}

// ofTheRest are the tests of flows, events, keys, deliveries, sweeps and transactions.
func ofTheRest() []test {
	return []test{
		{"flows are read as they were written", testFlows},
		{"flows are kept with the sub-flows they use", testSubflows},
		{"flows are listed", testFlowLists},
		{"a flow that changes keeps its versions", testFlowReplace},
		{"of those who replace a version one does", testFlowReplaceRace},
		{"a flow goes with its versions", testFlowDelete},
		{"permissions behind a flow are found", testFlowPermissions},
		{"permissions of those who sign in with a flow are found", testFlowUsers},
		{"events are found by what they have", testEventQueries},
		{"events are read in pages", testEventPages},
		{"one key of an algorithm signs", testKeys},
		{"events need no id", testEvents},
		{"old events are trimmed", testTrimEvents},
		{"trimming waits for sinks", testTrimWaitsForSinks},
		{"trimming waits for unsealed events", testTrimUnsealed},
		{"what is not old is not trimmed", testTrimNothing},
		{"deliveries are claimed and end", testDeliveries},
		{"links work once", testLinks},
		{"a user has one invitation", testInvitationRace},
		{"invitations belong to the last run until there is a credential", testInvitations},
		{"events queue notices", testNotices},
		{"of those who claim a delivery one gets it", testDeliveryRace},
		{"deliveries that expire are given up once", testExpiredDeliveries},
		{"what has expired is swept", testSweep},
		{"unfinished sign-ins are counted and trimmed", testPending},
		{"sign-ins that have expired are swept", testSweepSignIns},
		{"a sweep by a clock that is ahead", testClockJumps},
		{"what cannot be kept is not found", testUnstorable},
		{"writes that meet crosswise both happen", testCrosswise},
		{"who has given up writes nothing", testCanceled},
		{"transactions come one after the other", testSerial},
		{"who waits for a transaction may give up", testSerialWaits},
	}
}

// testUnknownUser commits data of a user before the user exists.
func testUnknownUser(t *testing.T, s *store.Store) {
	u := newUser("ann")
	for _, change := range []schemas.Change{
		schemas.SetPassword{UserID: u.ID, Hash: "$argon2id$x", At: noon()},
		schemas.CreateCredential{Credential: newCredential(u.ID)},
		schemas.SetTOTP{TOTP: newTOTP(u.ID)},
		schemas.SetRecoveryCodes{UserID: u.ID, Hashes: [][]byte{schemas.HashSecret("a")}, At: noon()},
		schemas.LinkIdentity{Identity: newIdentity(u.ID, "248289761001")},
		schemas.UpdateUser{UserID: u.ID, Attributes: map[string]any{"given_name": "Ann"}, At: noon()},
	} {
		run := newRun()
		wantError(t, s.Commit(t.Context(), run, authorized([]schemas.Change{change})), schemas.NotFound, schemas.CodeUserNotFound)
		reply(s.Run(t.Context(), run.ID)).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)
		must(t, s.Commit(t.Context(), run, nil))
	}
	apply(t, s, create(u)...)
	wantError(t, s.Apply(t.Context(), create(schemas.User{ID: u.ID, Type: u.Type, OUID: u.OUID})), schemas.Conflict, "user_exists")
}

// testOddIdentifiers compares values that must count as the same identifier, and values that must
// not.
func testOddIdentifiers(t *testing.T, s *store.Store) {
	for _, same := range [][]string{
		{"ann", "ＡＮＮ", " ann\t"},    // width, space around
		{"Zoe\u0308", "zoë", "ZOË"}, // composition
		{"ΣΊΣΥΦΟΣ", "σίσυφοσ"},
	} {
		u := newUser(same[0])
		apply(t, s, create(u)...)
		for _, spelling := range same {
			wantEqual(t, "the id of "+spelling, reply(s.UserByAttribute(t.Context(), "", "username", spelling)).get(t).ID, u.ID)
			wantError(t, s.Apply(t.Context(), create(newUser(spelling))), schemas.Conflict, schemas.CodeAttributeTaken)
		}
	}
	for _, other := range []string{"an", "annn", "ann%", "a_n", "анн", "AnnSmith"} {
		reply(s.UserByAttribute(t.Context(), "", "username", other)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
		apply(t, s, create(newUser(other))...)
	}
	apply(t, s, create(verifiedUser("first", "ann@example.com"))...)
	wantTaken(t, s, verifiedUser("ANN", "ann@example.com"), "username", "email")
	if _, err := s.UserByAttribute(t.Context(), "", "given_name", "Ann"); err == nil {
		t.Fatal("looked up a user by an attribute that does not identify users")
	}
}

// testUnstorable queries values from clients that neither database can store.
func testUnstorable(t *testing.T, s *store.Store) {
	ctx := t.Context()
	for _, odd := range []string{"a\x00b", "\xff\xfe", strings.Repeat("ä", 20000)} {
		reply(s.Run(ctx, odd)).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)
		reply(s.User(ctx, odd)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
		reply(s.UserByAttribute(ctx, "", "email", odd)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
		reply(s.Application(ctx, odd)).fails(t, schemas.NotFound, schemas.CodeAppNotFound)
		reply(s.FlowVersion(ctx, odd, 1)).fails(t, schemas.NotFound, schemas.CodeFlowNotFound)
		reply(s.Credential(ctx, schemas.Bytes(odd))).fails(t, schemas.NotFound, schemas.CodeCredentialNotFound)
		reply(s.Password(ctx, odd)).get(t)
		reply(s.IdentityProvider(ctx, odd)).fails(t, schemas.NotFound, schemas.CodeProviderNotFound)
		reply(s.Identity(ctx, corpID, odd)).get(t)
		reply(s.UserIdentities(ctx, odd)).get(t)
		wantError(t, s.Apply(ctx, create(newUser(odd))), schemas.Invalid, schemas.CodeInvalidRequest)
	}
}

// testCrosswise runs writes that lock the same rows in opposite orders; PostgreSQL resolves the
// deadlock by failing one of them.
func testCrosswise(t *testing.T, s *store.Store) {
	const writers = 4
	ctx, u := t.Context(), newUser("ann")
	keys := [2]schemas.Credential{newCredential(u.ID), newCredential(u.ID)}
	must(t, s.Apply(ctx, authorized(append(create(u), schemas.CreateCredential{Credential: keys[0]},
		schemas.CreateCredential{Credential: keys[1]}))))
	together(writers, func(i int) {
		changes := []schemas.Change{schemas.UseCredential{ID: keys[i%2].ID, At: noon()}}
		for range 100 { // time for the others to reach the other row
			changes = append(changes, schemas.RecordEvent{Event: schemas.Event{At: noon(), Action: "passkey.used"}})
		}
		changes = append(changes, schemas.UseCredential{ID: keys[1-i%2].ID, At: noon()})
		check(t, s.Apply(ctx, authorized(changes)))
	})
	wantEqual(t, "the number of events", len(reply(s.Events(ctx, schemas.EventQuery{Limit: 1000})).get(t)), writers*100)
}

func testCanceled(t *testing.T, s *store.Store) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	run, u := newRun(), newUser("ann")
	for _, changes := range [][]schemas.Change{nil, create(u)} {
		if err := s.Commit(gone, run, authorized(changes)); !errors.Is(err, context.Canceled) {
			t.Fatalf("a canceled commit returned %v", err)
		}
	}
	if _, err := s.Run(gone, run.ID); !errors.Is(err, context.Canceled) {
		t.Fatalf("a canceled read returned %v", err)
	}
	reply(s.Run(t.Context(), run.ID)).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)
	wantOnly(t, s, []schemas.User{u}, -1)
	must(t, s.Commit(t.Context(), run, create(u)))
}
