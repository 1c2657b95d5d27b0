package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

var noTime time.Time

func TestBatchStatement(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(*Tx) error
		want string // "" for a write that needs a transaction
	}{
		"one statement": {func(tx *Tx) error { return tx.later("DELETE FROM a WHERE id = ?", 1) }, "DELETE FROM a WHERE id = ?"},
		"one that must change a row": {func(tx *Tx) error { return tx.change(errNoUser, "UPDATE a SET b = ?", 1) },
			"WITH s0 AS (UPDATE a SET b = ? RETURNING 1) SELECT 1/CAST(EXISTS (SELECT 1 FROM s0) AS INTEGER)"},
		"several": {func(tx *Tx) error {
			return errors.Join(tx.requireActive("ann", noTime), tx.later("INSERT INTO a VALUES (?)", 1), tx.change(errNoUser, "UPDATE b SET c = ? RETURNING d", 2))
		}, "WITH s0 AS (" + shareActiveUser + "), s1 AS (INSERT INTO a VALUES (?) RETURNING 1), s2 AS (UPDATE b SET c = ? RETURNING d)" +
			" SELECT 1/CAST(EXISTS (SELECT 1 FROM s0) AS INTEGER), 1/CAST(EXISTS (SELECT 1 FROM s2) AS INTEGER)"},
		"none that must change a row": {func(tx *Tx) error {
			return errors.Join(tx.later("INSERT INTO a VALUES (1)"), tx.later("DELETE FROM b"))
		},
			"WITH s0 AS (INSERT INTO a VALUES (1) RETURNING 1), s1 AS (DELETE FROM b RETURNING 1) SELECT 1"},
		"a number of rows": {func(tx *Tx) error { _, err := tx.exec("DELETE FROM a"); return err }, ""},
		"a row":            {func(tx *Tx) error { return tx.row("SELECT 1").Scan(new(int)) }, ""},
		"rows":             {func(tx *Tx) error { _, err := exists(t.Context(), tx, "SELECT 1"); return err }, ""},
		"a lock of a user": {func(tx *Tx) error { _, err := tx.lockUser("ann"); return err }, ""},
		"an error that the write ignores": {func(tx *Tx) error {
			_, _ = tx.exec("DELETE FROM a")
			return tx.later("DELETE FROM b")
		}, ""},
	} {
		b := new(batch)
		err := test.do(&Tx{ctx: t.Context(), batch: b})
		if test.want == "" {
			if !b.broken {
				t.Errorf("%s: the write is a batch, and needs a transaction", name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		q, args := b.statement()
		if q != test.want {
			t.Errorf("%s:\n%s\nexpected\n%s", name, q, test.want)
		}
		if len(args) != strings.Count(q, "?") {
			t.Errorf("%s: %d parameters for %s", name, len(args), q)
		}
	}
}

// TestUnmetBatches: what a transaction reports better is tried again as one, and nothing else is,
// because it may have been committed.
func TestUnmetBatches(t *testing.T) {
	for err, want := range map[error]bool{
		&pq.Error{Code: pqerror.DivisionByZero}:      true,
		&pq.Error{Code: pqerror.ForeignKeyViolation}: true,
		&pq.Error{Code: pqerror.UniqueViolation}:     true,
		&pq.Error{Code: pqerror.FeatureNotSupported}: true,
		&pq.Error{Code: pqerror.AdminShutdown}:       false,
		&pq.Error{Code: pqerror.TRDeadlockDetected}:  false,
		errConnectionLost:                            false,
		context.DeadlineExceeded:                     false,
	} {
		if got := isUnmet(err); got != want {
			t.Errorf("isUnmet(%v) is %v", err, got)
		}
	}
}
