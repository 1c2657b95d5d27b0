package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Ended counts what EndUses removed.
type Ended struct{ Sessions, Runs, Links, RecoveryCodes, Mails int }

// EndOptions are the options of EndUses.
type EndOptions struct {
	Generation        string // of tokens, never used before
	TOTPStep          int64  // the last time step in which a code may have been accepted
	KeepRecoveryCodes bool
}

// EndUses removes from a restored store whatever can be used only once, or may have ended since the
// backup: runs, authorization requests and their codes, passkey ceremonies, sessions with their
// refresh tokens, links, recovery codes, and queued mails. Tokens that were issued before become
// invalid, and a code of an authenticator app works only after the given step. Messages to services
// stay in the queue, because these expect repetitions.
func EndUses(t *Tx, u EndOptions, now time.Time) (done Ended, err error) {
	if !u.KeepRecoveryCodes {
		if done.RecoveryCodes, err = t.remove("DELETE FROM recovery_codes WHERE used_at IS NULL"); err != nil {
			return done, err
		}
	}
	for _, step := range []struct {
		count *int
		q     string
		args  []any
	}{
		{&done.Runs, "DELETE FROM runs", nil},
		{new(int), "DELETE FROM auth_requests", nil},
		{new(int), "DELETE FROM passkey_sessions", nil},
		{&done.Sessions, "DELETE FROM sessions", nil},
		{&done.Links, "DELETE FROM links", nil},
		{&done.Mails, "DELETE FROM deliveries WHERE kind IN (?, ?)", []any{schemas.MailDelivery, schemas.NoticeDelivery}},
		{new(int), "UPDATE totp SET last_step = ? WHERE last_step < ?", []any{u.TOTPStep, u.TOTPStep}},
		{new(int), "UPDATE event_sinks SET held_until = 0", nil},
	} {
		if *step.count, err = t.remove(step.q, step.args...); err != nil {
			return done, err
		}
	}
	_, err = RevokeAllTokens(t, u.Generation, now)
	return done, err
}

func (t *Tx) remove(q string, args ...any) (int, error) {
	n, err := t.exec(q, args...)
	return int(n), err
}

const hasContent = `SELECT EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM applications) OR EXISTS (SELECT 1 FROM flows)
	OR EXISTS (SELECT 1 FROM signing_keys) OR EXISTS (SELECT 1 FROM seeding)`

// HasContent reports whether the store has users, resources or keys.
func (s *Store) HasContent(ctx context.Context) (bool, error) {
	return readValue[bool](ctx, s, hasContent)
}

// Detach prepares the database file at a path for being replaced: it fails if another process uses the
// file, and writes the log of SQLite into it, so that no other file belongs to it. It reports
// whether the file is a store with content; a missing file has none.
func Detach(ctx context.Context, path string) (content bool, err error) {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return false, nil
	}
	db, err := openDB(ctx, Config{Driver: "sqlite", DSN: sqliteDSN(path, "", "busy_timeout(200)"), Pool: 1})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.GetContext(ctx, &content, hasContent); err != nil {
		return false, fmt.Errorf("%s is damaged, or is not a Postern store; move it to another folder: %w", path, err)
	}
	var mode string
	if err := db.GetContext(ctx, &mode, "PRAGMA journal_mode = DELETE"); err != nil || mode != "delete" {
		return false, errors.Join(fmt.Errorf("another process uses %s: stop the server, and other programs that have the file open", path), err)
	}
	return content, nil
}
