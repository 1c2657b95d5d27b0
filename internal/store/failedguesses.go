package store

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	selectFailedGuesses = `SELECT failures FROM failed_guesses WHERE digest = ?`

	// A counter at its limit is not increased, and the statement returns no row.
	upsertFailedGuess = `INSERT INTO failed_guesses (digest, secret, user_id, failures, failed_at) VALUES (?, ?, ?, 1, ?)
		ON CONFLICT (digest) DO UPDATE SET failures = failed_guesses.failures + 1, failed_at = excluded.failed_at
		WHERE failed_guesses.failures < ? RETURNING failures`

	deleteFailedGuesses = `DELETE FROM failed_guesses WHERE user_id = ?`

	// The secret "" marks counters of versions without kinds of secrets.
	deleteFailedGuessesAt = `DELETE FROM failed_guesses WHERE user_id = ? AND secret IN (?, '')`

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

// FailedGuesses returns the number of consecutive failed guesses of the digest.
func (s *Store) FailedGuesses(ctx context.Context, digest []byte) (int, error) {
	return readValue[int](ctx, s, selectFailedGuesses, nonNilBytes(digest))
}

// AddFailedGuess counts a failed guess. It returns false and counts nothing if the limit is
// reached, also when several instances count concurrently.
func (s *Store) AddFailedGuess(ctx context.Context, f schemas.FailedGuess) (counted bool, err error) {
	err = s.writer.write(ctx, func(t *Tx) error {
		n, err := readOne(t.row(upsertFailedGuess, nonNilBytes(f.Digest), string(f.Secret), nullable(f.UserID), toMicros(f.At), f.Limit), scanValue[int], nil)
		counted = n != nil
		if err != nil || n == nil || *n != f.EventAt || f.UserID == "" {
			return err
		}
		return t.recordEvent(f.Event)
	})
	return counted && err == nil, err
}

// forgetFailedGuesses resets the counters of the secrets that the user signed in with: see
// schemas.Session.ProvedSecrets.
func (t *Tx) forgetFailedGuesses(s *schemas.Session) (err error) {
	secrets, all := s.ProvedSecrets()
	if all {
		err = t.later(deleteFailedGuesses, s.UserID)
	}
	for _, secret := range secrets {
		if err == nil {
			err = t.later(deleteFailedGuessesAt, s.UserID, string(secret))
		}
	}
	return err
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
