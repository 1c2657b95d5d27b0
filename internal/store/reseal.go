package store

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// SealedColumn is a column with sealed values.
type SealedColumn struct {
	Table, Key, Value string
	// Where restricts the rows; "" for all.
	Where string
	// Parts are the columns from whose values, as text, Belongs derives the binding of a
	// value.
	Parts   []string
	Belongs func(parts []string) string

	binaryKey bool // the key is bytes, not text
	state     bool // the value is kept by sealState
}

// RunStates is the column that SealedRuns seals.
func RunStates() SealedColumn {
	return SealedColumn{
		Table: "runs", Key: "id", Value: "state", Where: "state IS NOT NULL", state: true,
		Parts: []string{"id", "revision", "status", "flow_id", "flow_version", "application_id", "user_id", "node"},
		Belongs: func(parts []string) string {
			return strings.Join(append([]string{"run"}, parts...), "\n") // as belongs does
		},
	}
}

// PasskeySessionStates is the column that SealedSessions seals.
func PasskeySessionStates() SealedColumn {
	return SealedColumn{
		Table: "passkey_sessions", Key: "token_hash", Value: "state", Where: "state IS NOT NULL", state: true, binaryKey: true,
		Parts: []string{"token_hash", "ceremony", "expires_at", "owner"},
		Belongs: func(parts []string) string { // as belongsToSession does
			return strings.Join(append([]string{"passkey session", hex.EncodeToString([]byte(parts[0]))}, parts[1:]...), "\n")
		},
	}
}

// Resealed counts the values of a column by result.
type Resealed struct {
	Changed, Current int // sealed again, and sealed with the newest key before
	Unreadable       int // that no key opens; they stay unchanged
}

// Resealer re-encrypts a value that an older key sealed, and returns a value of the newest key
// unchanged. It fails if no key opens the value.
type Resealer interface {
	Reseal(sealed []byte, belongs string) ([]byte, error)
}

// resealBatch is how many rows a transaction of Reseal changes: few enough that sign-ins do
// not wait.
const resealBatch = 200

// Reseal re-encrypts all values of a column that an older key sealed, in batches. It skips a
// row that changes concurrently, so it may run with any number of instances and be interrupted
// and repeated.
func (s *Store) Reseal(ctx context.Context, c SealedColumn, with Resealer) (done Resealed, err error) {
	var after any = ""
	if c.binaryKey {
		after = []byte{}
	}
	for {
		batch, err := c.read(ctx, s, after, resealBatch)
		if err != nil || len(batch) == 0 {
			return done, err
		}
		after = batch[len(batch)-1].key
		changed := done.reseal(c, batch, with)
		if len(changed) == 0 {
			continue
		}
		err = s.writer.write(ctx, func(t *Tx) error { return c.write(t, changed) })
		if err != nil {
			return done, err
		}
	}
}

// ResealIn is Reseal in one transaction. It fails for a value that no key opens.
func ResealIn(ctx context.Context, t *Tx, c SealedColumn, with Resealer) (done Resealed, err error) {
	all, err := c.read(ctx, t, "", 1<<30)
	if err != nil {
		return done, err
	}
	changed := done.reseal(c, all, with)
	if done.Unreadable > 0 {
		return done, fmt.Errorf("store: %d of %d values in %s cannot be opened: expected the key that they were sealed with", done.Unreadable, len(all), c.Table)
	}
	return done, c.write(t, changed)
}

// sealedRow is a row with a sealed value.
type sealedRow struct {
	key     any
	value   []byte
	belongs string
	fresh   []byte // the value that takes its place
}

func (c SealedColumn) read(ctx context.Context, r Reader, after any, limit int) (found []sealedRow, err error) {
	q := fmt.Sprintf("SELECT %s, %s, %s FROM %s WHERE %[1]s > ?", c.Key, c.Value, strings.Join(c.Parts, ", "), c.Table)
	if c.Where != "" {
		q += " AND " + c.Where
	}
	err = rows(ctx, r, func(row scanner) error {
		var read sealedRow
		var key []byte
		parts := make([]string, len(c.Parts))
		into := []any{&key, &read.value}
		for i := range parts {
			into = append(into, &parts[i])
		}
		err := row.Scan(into...)
		if read.key = any(key); !c.binaryKey {
			read.key = string(key)
		}
		read.belongs = c.Belongs(parts)
		found = append(found, read)
		return err
	}, q+" ORDER BY "+c.Key+" LIMIT ?", after, limit)
	return found, err
}

// reseal returns the rows whose value changes, and counts all rows.
func (d *Resealed) reseal(c SealedColumn, batch []sealedRow, with Resealer) (changed []sealedRow) {
	for _, row := range batch {
		fresh, err := c.reseal(row, with)
		switch {
		case err != nil:
			d.Unreadable++
		case bytes.Equal(fresh, row.value):
			d.Current++
		default:
			d.Changed++
			row.fresh = fresh
			changed = append(changed, row)
		}
	}
	return changed
}

func (c SealedColumn) reseal(row sealedRow, with Resealer) ([]byte, error) {
	switch {
	case !c.state:
		return with.Reseal(row.value, row.belongs)
	case !isSealed(row.value):
		return row.value, nil // stored by a version that sealed no states, and about to expire
	}
	sealed, err := base64.StdEncoding.DecodeString(strings.Trim(string(row.value), `"`))
	if err != nil {
		return nil, err
	}
	fresh, err := with.Reseal(sealed, row.belongs)
	return stateText(fresh), err
}

// write replaces the values that have not changed since they were read.
func (c SealedColumn) write(t *Tx, changed []sealedRow) error {
	q := fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s = ? AND %[2]s = ?", c.Table, c.Value, c.Key)
	if c.state {
		q = fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s = ? AND CAST(%[2]s AS TEXT) = ?", c.Table, c.Value, c.Key)
	}
	for _, row := range changed {
		value, fresh := any(row.value), any(row.fresh)
		if c.state {
			value, fresh = string(row.value), string(row.fresh)
		}
		if _, err := t.exec(q, fresh, row.key, value); err != nil {
			return fmt.Errorf("store: resealing %s: %w", c.Table, err)
		}
	}
	return nil
}
