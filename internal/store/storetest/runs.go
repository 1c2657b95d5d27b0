package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// RunStore is the part of a store that the engine needs: runs with their revisions and the changes
// of their steps, and the users and passkeys.
type RunStore interface {
	Run(ctx context.Context, id string) (*schemas.Run, error)
	Commit(ctx context.Context, run *schemas.Run, changes []schemas.Change) error
	Apply(ctx context.Context, changes []schemas.Change) error
	User(ctx context.Context, id string) (*schemas.User, error)
	UserByAttribute(ctx context.Context, userType, attribute, value string) (*schemas.User, error)
	Password(ctx context.Context, userID string) (schemas.Password, error)
	Credentials(ctx context.Context, userID string) ([]schemas.Credential, error)
	Credential(ctx context.Context, id schemas.Bytes) (*schemas.Credential, error)
	TOTP(ctx context.Context, userID string) (*schemas.TOTP, error)
	RecoveryCode(ctx context.Context, userID string, hash []byte) (*schemas.RecoveryCode, error)
	RecoveryCodes(ctx context.Context, userID string) (*schemas.RecoveryCodes, error)
	Identity(ctx context.Context, providerID, subject string) (*schemas.Identity, error)
	UserIdentities(ctx context.Context, userID string) ([]schemas.Identity, error)
}

// Runs tests the stores that open returns, a new and empty one for each test.
func Runs(t *testing.T, open func(t *testing.T) RunStore) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, RunStore)
	}{
		{"a run is read as it was committed", testRunRoundTrip},
		{"a revision follows the one before", testRevisions},
		{"of commits at once one wins", testOneWinner},
		{"a commit is all or nothing", testAtomic},
		{"users are read as they were created", testUserRoundTrip},
		{"identifiers are unique whatever their case", testIdentifiers},
		{"a value is one user's, whatever attribute has it", testOneValueOneUser},
		{"of users created at once one has the value", testUserRaces(usersOfOneValue)},
		{"what cannot be an identifier makes no user", testUnfitIdentifiers},
		{"of users created at once one has the name", testUserRaces(usersOfOneName)},
		{"passwords are set and replaced", testPasswords},
		{"passkeys are read as they were created", testCredentialRoundTrip},
		{"a passkey has one owner", testCredentialUnique},
		{"a sign count never falls", testSignCount},
		{"a user has one authenticator app", testTOTP},
		{"of codes used at once one counts", testTOTPRace},
		{"new recovery codes void the old", testRecoveryCodes},
		{"of those who use a recovery code one does", testRecoveryCodeRace},
		{"an identity is one user's", testIdentities},
		{"of users who link an identity at once one has it", testIdentityRace},
		{"attributes change one by one", testUpdateUser},
		{"of users who take a name at once one does", testUpdateUserRace},
		{"what rests on a credential needs it", testRequireProofs},
		{"proofs name what a commit makes", testProofsOfOneCommit},
		{"a hash is replaced if it is the verified one", testRehash},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func testRunRoundTrip(t *testing.T, s RunStore) {
	reply(s.Run(t.Context(), schemas.NewID())).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)

	run := newRun()
	must(t, s.Commit(t.Context(), run, nil))
	reply(s.Run(t.Context(), run.ID)).equals(t, "the run", run)

	// A finished run has a user and no state.
	over := next(run, "")
	over.Status, over.UserID, over.State = schemas.Complete, schemas.NewID(), nil
	must(t, s.Commit(t.Context(), over, nil))
	reply(s.Run(t.Context(), run.ID)).equals(t, "the run that is over", over)
}

func testRevisions(t *testing.T, s RunStore) {
	ctx, run := t.Context(), newRun()
	wantError(t, s.Commit(ctx, next(run, "a"), nil), schemas.Conflict, schemas.CodeStaleStep)
	must(t, s.Commit(ctx, run, nil))
	wantError(t, s.Commit(ctx, run, nil), schemas.Conflict, schemas.CodeStaleStep)
	second := next(run, "a")
	wantError(t, s.Commit(ctx, next(second, "b"), nil), schemas.Conflict, schemas.CodeStaleStep)
	must(t, s.Commit(ctx, second, nil))
	wantError(t, s.Commit(ctx, next(run, "b"), nil), schemas.Conflict, schemas.CodeStaleStep)
	reply(s.Run(ctx, run.ID)).equals(t, "the run", second)
}

// testOneWinner answers one step many times concurrently: in each round, all answers commit the
// same next revision, each with its own user.
func testOneWinner(t *testing.T, s RunStore) {
	const rounds, contenders = 200, 16
	ctx, run := t.Context(), newRun()
	must(t, s.Commit(ctx, run, nil))
	for round := range rounds {
		var users [contenders]schemas.User
		winner := oneWins(t, contenders, schemas.CodeStaleStep, func(i int) error {
			users[i] = newUser(fmt.Sprintf("round%d-%d", round, i))
			return s.Commit(ctx, next(run, users[i].ID), create(users[i]))
		})
		run = next(run, users[winner].ID)
		reply(s.Run(ctx, run.ID)).equals(t, "the run", run)
		wantOnly(t, s, users[:], winner)
	}
}

// wantOnly fails the test unless only the user at index i exists.
func wantOnly(t *testing.T, s RunStore, users []schemas.User, i int) {
	t.Helper()
	for n, u := range users {
		_, err := s.User(t.Context(), u.ID)
		if n == i {
			must(t, err)
		} else {
			wantError(t, err, schemas.NotFound, schemas.CodeUserNotFound)
		}
	}
}

func testAtomic(t *testing.T, s RunStore) {
	ctx, run := t.Context(), newRun()
	taken, free := newUser("ann"), newUser("bob")
	must(t, s.Commit(ctx, run, create(taken)))

	clash := newUser("Ann")
	err := s.Commit(ctx, next(run, "later"), authorized([]schemas.Change{
		schemas.CreateUser{User: free},
		schemas.SetPassword{UserID: free.ID, Hash: "$argon2id$x", At: noon()},
		schemas.CreateCredential{Credential: newCredential(free.ID)},
		schemas.SetPassword{UserID: taken.ID, Hash: "$argon2id$y", At: noon()},
		schemas.CreateUser{User: clash},
	}))
	wantError(t, err, schemas.Conflict, schemas.CodeAttributeTaken)
	reply(s.Run(ctx, run.ID)).equals(t, "the run", run)
	wantOnly(t, s, []schemas.User{taken, free, clash}, 0)
	reply(s.UserByAttribute(ctx, "", "username", "bob")).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	for _, id := range []string{taken.ID, free.ID} {
		wantEqual(t, "the password", reply(s.Password(ctx, id)).get(t).Hash, "")
	}
	wantEqual(t, "the passkeys", len(reply(s.Credentials(ctx, free.ID)).get(t)), 0)

	// A run whose first commit fails does not exist, and can be started again.
	other := newRun()
	wantError(t, s.Commit(ctx, other, create(clash)), schemas.Conflict, schemas.CodeAttributeTaken)
	reply(s.Run(ctx, other.ID)).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)
	must(t, s.Commit(ctx, other, create(free)))
}
