package store

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	// A guess has two counters at most.
	selectFailedGuesses = `SELECT digest, failures FROM failed_guesses WHERE digest IN (?, ?)`

	// A counter at its limit is not increased, and the statement returns no row.
	upsertFailedGuess = `INSERT INTO failed_guesses (digest, secret, user_id, failures, failed_at) VALUES (?, ?, ?, 1, ?)
		ON CONFLICT (digest) DO UPDATE SET failures = failed_guesses.failures + 1, failed_at = excluded.failed_at
		WHERE failed_guesses.failures < ? RETURNING failures`

	decreaseFailedGuesses = `UPDATE failed_guesses SET failures = failures - 1 WHERE digest = ? AND failures > 0`

	updateExhausted = `UPDATE failed_guesses SET exhausted_at = ? WHERE digest = ? AND failures >= ? AND exhausted_at IS NULL`

	selectBlockedSecrets = `SELECT secret, min(exhausted_at) FROM failed_guesses
		WHERE user_id = ? AND exhausted_at IS NOT NULL GROUP BY secret ORDER BY secret`

	deleteFailedGuesses = `DELETE FROM failed_guesses WHERE user_id = ?`

	// The secret "" marks counters of versions without kinds of secrets.
	deleteFailedGuessesAt = `DELETE FROM failed_guesses WHERE user_id = ? AND secret IN ('', ?, ?, ?, ?)`

	deleteExhaustedGuesses = `DELETE FROM failed_guesses WHERE user_id = ? AND (exhausted_at IS NOT NULL OR secret IN ('', ?, ?, ?, ?))`

	deleteOldFailedGuesses = `DELETE FROM failed_guesses WHERE failed_at <= ? AND digest IN
		(SELECT digest FROM failed_guesses WHERE user_id IS NULL AND failed_at <= ? ORDER BY failed_at LIMIT ?)`

	deleteFirstFailedGuesses = `DELETE FROM failed_guesses WHERE digest IN
		(SELECT digest FROM failed_guesses WHERE user_id IS NULL ORDER BY failed_at LIMIT ?)`
)

// The lifetime and the number of the counters of names that no user has. The counters of users are
// kept until the user signs in: there are a few for each user. The others must last as long as an
// attacker may wait to compare them, but must not fill the disk.
const (
	failedGuessTTL   = 365 * 24 * time.Hour
	maxFailedGuesses = 250_000
)

// FailedGuesses returns the values of the counters of a guess.
func (s *Store) FailedGuesses(ctx context.Context, counters []schemas.GuessCounter) ([]int, error) {
	first, last := counters[0], counters[len(counters)-1]
	failures := make([]int, len(counters))
	err := rows(ctx, s, func(row scanner) error {
		var digest []byte
		var n int
		err := row.Scan(&digest, &n)
		if i := slices.IndexFunc(counters, func(c schemas.GuessCounter) bool { return bytes.Equal(c.Digest, digest) }); i >= 0 {
			failures[i] = n
		}
		return err
	}, selectFailedGuesses, nonNilBytes(first.Digest), nonNilBytes(last.Digest))
	return failures, err
}

// errGuessLimit undoes a count that reached a limit.
var errGuessLimit = errors.New("store: a counter of failed guesses is at its limit")

// AddFailedGuess increases all counters of a guess and returns their new values. It returns nil and
// counts nothing if one of them is at its limit, also when several instances count concurrently.
func (s *Store) AddFailedGuess(ctx context.Context, f schemas.FailedGuess) (failures []int, err error) {
	err = s.writer.write(ctx, func(t *Tx) error {
		failures = nil
		for _, c := range f.Counters {
			n, err := readOne(t.row(upsertFailedGuess, nonNilBytes(c.Digest), string(f.Secret), nullable(f.UserID), toMicros(f.At), c.Limit), scanValue[int], nil)
			if err != nil {
				return err
			}
			if n == nil {
				return errGuessLimit
			}
			failures = append(failures, *n)
		}
		return nil
	})
	if errors.Is(err, errGuessLimit) {
		return nil, nil
	}
	return failures, err
}

// RemoveFailedGuess takes back a guess that was counted and did not fail.
func (s *Store) RemoveFailedGuess(ctx context.Context, f schemas.FailedGuess) error {
	return s.writer.write(ctx, func(t *Tx) error {
		for _, c := range f.Counters {
			if _, err := t.exec(decreaseFailedGuesses, nonNilBytes(c.Digest)); err != nil {
				return err
			}
		}
		return nil
	})
}

// ExhaustGuesses marks the counters of a guess that have reached their EventAt. It records the event
// for the first of them.
func (s *Store) ExhaustGuesses(ctx context.Context, f schemas.FailedGuess) error {
	return s.writer.write(ctx, func(t *Tx) error {
		marked := int64(0)
		for _, c := range f.Counters {
			n, err := t.exec(updateExhausted, toMicros(f.At), nonNilBytes(c.Digest), c.EventAt)
			if err != nil {
				return err
			}
			marked += n
		}
		if marked == 0 || f.UserID == "" {
			return nil
		}
		return t.recordEvent(f.Event)
	})
}

// BlockedSecrets returns the secrets of the user with a counter at its limit.
func BlockedSecrets(ctx context.Context, r Reader, userID string) ([]schemas.BlockedSecret, error) {
	return readAll(ctx, r, func(row scanner, b *schemas.BlockedSecret) error {
		return row.Scan((*string)(&b.Secret), (*microTime)(&b.At))
	}, selectBlockedSecrets, userID)
}

// resetFailedGuesses resets the counters that a sign-in resets: see schemas.Session.ProvedSecrets.
func (t *Tx) resetFailedGuesses(s *schemas.Session) error {
	secrets, enables := s.ProvedSecrets()
	switch {
	case enables:
		return t.later(deleteExhaustedGuesses, guessesAt(s.UserID, secrets...)...)
	case len(secrets) > 0:
		return t.later(deleteFailedGuessesAt, guessesAt(s.UserID, secrets...)...)
	}
	return nil
}

// replaceSecret resets the counters of a secret that was replaced or removed.
func (t *Tx) replaceSecret(userID string, secret schemas.GuessedSecret) error {
	return t.later(deleteFailedGuessesAt, guessesAt(userID, secret)...)
}

// guessesAt returns the arguments of a statement about some of the secrets of accounts.
func guessesAt(userID string, secrets ...schemas.GuessedSecret) []any {
	args := []any{userID}
	for i := range schemas.AccountSecrets() {
		secret := schemas.GuessedSecret("")
		if i < len(secrets) {
			secret = secrets[i]
		}
		args = append(args, string(secret))
	}
	return args
}

// ForgetFailedGuesses resets the user's counters and returns their number.
func ForgetFailedGuesses(t *Tx, userID string) (int64, error) {
	return t.exec(deleteFailedGuesses, userID)
}

// sweepFailedGuesses removes old counters of unknown names, and the oldest ones above the
// limit.
func (s *Store) sweepFailedGuesses(ctx context.Context, now time.Time) (removed int, err error) {
	removed, err = s.sweep(ctx, deleteOldFailedGuesses, now.Add(-failedGuessTTL), sweepBatch)
	if err != nil {
		return removed, err
	}
	n, err := s.trimFailedGuesses(ctx, maxFailedGuesses)
	return removed + n, err
}

// trimFailedGuesses removes the oldest counters of unknown names above the limit.
func (s *Store) trimFailedGuesses(ctx context.Context, most int) (removed int, err error) {
	n, err := readValue[int](ctx, s, "SELECT COUNT(*) FROM failed_guesses WHERE user_id IS NULL")
	for ; err == nil && n-removed > most; removed += min(sweepBatch, n-removed-most) {
		err = s.Update(ctx, func(t *Tx) error {
			_, err := t.exec(deleteFirstFailedGuesses, min(sweepBatch, n-removed-most))
			return err
		})
	}
	return removed, err
}
