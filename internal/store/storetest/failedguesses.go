package storetest

import (
	"context"
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
		Secret: schemas.PasswordSecret, UserID: userID, At: noon(),
		Counters: []schemas.GuessCounter{{Digest: digest[:], Limit: limit, EventAt: limit}},
		Event:    schemas.Event{ID: schemas.NewID(), At: noon(), Action: "guesses.exhausted", UserID: userID},
	}
}

// count counts a guess and reports whether it was below the limit.
func count(ctx context.Context, s *store.Store, f schemas.FailedGuess) (bool, error) {
	failures, err := s.AddFailedGuess(ctx, f)
	return failures != nil, err
}

// testFailedGuesses counts concurrent failed guesses up to the limit, until the user signs in.
func testFailedGuesses(t *testing.T, s *store.Store) {
	ctx, limit := t.Context(), 5
	ada, bob := twoUsers(t, s)
	counted := countOf(t, 8*limit, func(int) (bool, error) { return count(ctx, s, failedGuess("ada", ada, limit)) })
	wantEqual(t, "the number of guesses counted", counted, limit)
	wantFailures(t, s, "ada", limit)
	ok, err := count(ctx, s, failedGuess("ada", ada, limit+2)) // by a network that has more
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

// testCountersOfAGuess counts a guess at two counters, or at none of them if one is at its limit, and
// takes it back from both.
func testCountersOfAGuess(t *testing.T, s *store.Store) {
	ctx := t.Context()
	ada, _ := twoUsers(t, s)
	one := func(name string, limit int) schemas.FailedGuess {
		f := failedGuess(name, ada, limit)
		f.Counters = append(f.Counters, failedGuess("all", ada, 3).Counters...)
		return f
	}
	for i, name := range []string{"a", "a", "b"} {
		failures := reply(s.AddFailedGuess(ctx, one(name, 2))).get(t)
		wantEqual(t, "the counter of all", failures[1], i+1)
	}
	for _, name := range []string{"a", "c"} {
		counted := countOf(t, 4, func(int) (bool, error) { return count(ctx, s, one(name, 2)) })
		wantEqual(t, "the number of guesses counted above a limit", counted, 0)
	}
	wantFailures(t, s, "c", 0)
	must(t, s.RemoveFailedGuess(ctx, one("b", 2)))
	wantFailures(t, s, "b", 0)
	wantFailures(t, s, "all", 2)
	must(t, s.RemoveFailedGuess(ctx, one("b", 2)))
	wantFailures(t, s, "b", 0) // it never falls below
}

// testExhaustedGuesses records once that a limit was reached. A sign-in with the secret, or with two
// other factors, ends that, and one with another secret does not.
func testExhaustedGuesses(t *testing.T, s *store.Store) {
	ctx := t.Context()
	ada, bob := twoUsers(t, s)
	totp := failedGuess("code", ada, 2)
	totp.Secret, totp.Event.Action = schemas.TOTPSecret, schemas.FactorDisabled
	exhaust := func(f schemas.FailedGuess, wanted int) {
		t.Helper()
		for range 3 {
			f.Event.ID = schemas.NewID()
			reply(s.AddFailedGuess(ctx, f)).get(t)
			must(t, s.ExhaustGuesses(ctx, f))
		}
		wantEqual(t, "the number of events", len(reply(s.Events(ctx, schemas.EventQuery{Limit: 10, Action: f.Event.Action})).get(t)), wanted)
	}
	blocked := func(userID string, wanted ...schemas.BlockedSecret) {
		t.Helper()
		wantEqual(t, "the blocked secrets", reply(store.BlockedSecrets(ctx, s, userID)).get(t), wanted)
	}
	exhaust(totp, 1)
	exhaust(failedGuess("ada", ada, 2), 1)
	exhaust(failedGuess("nobody", "", 2), 1) // no user, no event
	code, password := schemas.BlockedSecret{Secret: schemas.TOTPSecret, At: noon()}, schemas.BlockedSecret{Secret: schemas.PasswordSecret, At: noon()}
	blocked(ada, code, password)
	blocked(bob)

	signIn := func(acr string, proofs ...schemas.ProofKind) {
		t.Helper()
		session := newSignIn(ada, noon())
		session.ACR = acr
		for _, kind := range proofs {
			session.Proofs = append(session.Proofs, schemas.Proof{Kind: kind, Of: "x"})
		}
		apply(t, s, start(session)...)
	}
	signIn(schemas.ACRPassword, schemas.PasswordProof)
	blocked(ada, code)
	signIn(schemas.ACRVouched, schemas.EmailProof)
	blocked(ada, code)
	signIn(schemas.ACRMultiFactor, schemas.PasswordProof, schemas.RecoveryProof)
	blocked(ada)
	wantFailures(t, s, "code", 0)
}

// testProvedSecrets checks that only sign-ins that prove the password reset the count of failed
// guesses at it, while it is below its limit.
func testProvedSecrets(t *testing.T, s *store.Store, ada string, failures int) {
	for _, proof := range []schemas.ProofKind{"", schemas.EmailProof, schemas.PasskeyProof, schemas.IdentityProof, schemas.PasswordProof} {
		signIn := newSignIn(ada, noon())
		if proof != "" {
			signIn.ACR, signIn.Proofs = schemas.ACRPassword, []schemas.Proof{{Kind: proof, Of: "x"}}
		}
		if proof == schemas.PasskeyProof {
			signIn.ACR = schemas.ACRMultiFactorPR
		}
		apply(t, s, start(signIn)...)
		if proof == schemas.PasswordProof {
			failures = 0
		}
		wantFailures(t, s, "ada", failures)
	}
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
	wantEqual(t, "the failures of "+name, reply(s.FailedGuesses(t.Context(), failedGuess(name, "", 0).Counters)).get(t)[0], want)
}
