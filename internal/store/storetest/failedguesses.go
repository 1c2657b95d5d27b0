package storetest

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// failedGuess is a wrong guess at a name of a user, "" for a name that no user has.
func failedGuess(name, userID string, limit int) schemas.FailedGuess {
	digest := sha256.Sum256([]byte(name))
	return schemas.FailedGuess{
		Digest: digest[:], Secret: schemas.NameSecret, UserID: userID, Limit: limit, EventAt: limit, At: noon(),
		Event: schemas.Event{ID: schemas.NewID(), At: noon(), Action: "guesses.exhausted", UserID: userID},
	}
}

// testFailedGuesses counts concurrent failed guesses up to the limit, until the user signs in.
func testFailedGuesses(t *testing.T, s *store.Store) {
	ctx, limit := t.Context(), 5
	ada, bob := twoUsers(t, s)
	counted := countOf(t, 8*limit, func(int) (bool, error) { return s.AddFailedGuess(ctx, failedGuess("ada", ada, limit)) })
	wantEqual(t, "the number of guesses counted", counted, limit)
	wantFailures(t, s, "ada", limit)
	wantEqual(t, "the number of events", len(reply(s.Events(ctx, schemas.EventQuery{Limit: 10, Action: "guesses.exhausted"})).get(t)), 1)
	ok, err := s.AddFailedGuess(ctx, failedGuess("ada", ada, limit+2)) // by a network that has more
	must(t, err)
	wantEqual(t, "whether one with a higher limit counts", ok, true)

	reply(s.AddFailedGuess(ctx, failedGuess("another", bob, limit))).get(t)
	testProvedSecrets(t, s, ada, limit+1)
	wantFailures(t, s, "another", 1)
	must(t, s.Update(ctx, func(tx *store.Tx) error {
		n, err := store.ForgetFailedGuesses(tx, bob)
		wantEqual(t, "the number of counters forgotten", n, int64(1))
		return err
	}))
	wantFailures(t, s, "another", 0)
}

// testProvedSecrets checks that only sign-ins that prove the password, or two factors, reset the
// count of failed guesses at the password.
func testProvedSecrets(t *testing.T, s *store.Store, ada string, failures int) {
	for _, proof := range []schemas.ProofKind{"", schemas.EmailProof, schemas.PasskeyProof, schemas.IdentityProof, schemas.PasswordProof} {
		signIn := newSignIn(ada, noon())
		if proof != "" {
			signIn.ACR, signIn.Proofs = schemas.ACRPassword, []schemas.Proof{{Kind: proof, Of: "x"}}
		}
		apply(t, s, start(signIn)...)
		if proof == schemas.PasswordProof {
			failures = 0
		}
		wantFailures(t, s, "ada", failures)
	}
	reply(s.AddFailedGuess(t.Context(), failedGuess("ada", ada, 1))).get(t)
	twice := newSignIn(ada, noon())
	twice.ACR, twice.Proofs = schemas.ACRMultiFactorPR, []schemas.Proof{{Kind: schemas.PasskeyProof, Of: "x"}}
	apply(t, s, start(twice)...)
	wantFailures(t, s, "ada", 0)
}

// testSweepFailedGuesses keeps the counters of users, and those of other names for a
// year.
func testSweepFailedGuesses(t *testing.T, s *store.Store) {
	ada, _ := twoUsers(t, s)
	for name, userID := range map[string]string{"ada": ada, "nobody": ""} {
		reply(s.AddFailedGuess(t.Context(), failedGuess(name, userID, 5))).get(t)
	}
	for i := range 3 {
		f := failedGuess(fmt.Sprint("later", i), "", 5)
		f.At = noon().Add(time.Hour)
		reply(s.AddFailedGuess(t.Context(), f)).get(t)
	}
	reply(s.Sweep(t.Context(), noon().Add(365*24*time.Hour))).equals(t, "the number of rows swept", 1)
	wantFailures(t, s, "ada", 1)
	wantFailures(t, s, "nobody", 0)
	wantFailures(t, s, "later2", 1)
}

// twoUsers makes two users and returns their ids.
func twoUsers(t *testing.T, s *store.Store) (ada, bob string) {
	t.Helper()
	first, second := newUser("ada"), newUser("bob")
	apply(t, s, schemas.CreateUser{User: first}, schemas.CreateUser{User: second})
	return first.ID, second.ID
}

func wantFailures(t *testing.T, s *store.Store, name string, want int) {
	t.Helper()
	reply(s.FailedGuesses(t.Context(), failedGuess(name, "", 0).Digest)).equals(t, "the failures of "+name, want)
}
