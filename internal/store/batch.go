package store

import (
	"errors"
	"strconv"
	"strings"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"github.com/postern-id/postern/schemas"
)

// Batches
//
// A write to PostgreSQL whose statements do not depend on the results of each other is sent as one
// statement, which is a transaction by itself: one round trip instead of one for each statement, for
// BEGIN and for COMMIT. Its statements are the parts of a WITH clause:
//
//	WITH s0 AS (SELECT 1 FROM users WHERE id = ? FOR SHARE),
//	     s1 AS (UPDATE runs SET ... RETURNING 1),
//	     s2 AS (INSERT INTO events ... RETURNING 1)
//	SELECT 1/CAST(EXISTS (SELECT 1 FROM s0) AS INTEGER), 1/CAST(EXISTS (SELECT 1 FROM s1) AS INTEGER)
//
// A statement that must find or change a row, and does not, divides by zero, which undoes all of
// them. The write then runs again as a transaction, statement after statement, which returns the
// exact error. So the conditions of a batch may be stricter than those of the transaction, but not
// weaker.
//
// All parts see the database as it was when the batch began, and not what the others write. An
// UPDATE, a DELETE and a SELECT with FOR SHARE check their conditions again on a row that another
// transaction has changed meanwhile. A condition on a row that others may change therefore needs one
// of these. PostgreSQL runs the required parts in their order, so they lock in the order of
// proofs.go. The parts of a batch must change different rows.

// batch collects the statements of a write. nil means that a write runs its statements at once.
type batch struct {
	parts  []part
	broken bool // whether the write needs a transaction: it depends on a result

	written []schemas.Proof // of the credentials whose rows a part changes: see useProof
}

// part is a statement of a batch.
type part struct {
	q        string
	args     []any
	required bool // whether it must find or change a row
}

// errNeedsTransaction is the error of a statement whose result cannot be known in a batch.
var errNeedsTransaction = errors.New("store: this write needs a transaction")

// inBatch reports whether the statements of a write are collected.
func (t *Tx) inBatch() bool { return t.batch != nil }

// later runs a statement on whose result nothing depends, or adds it to the batch. Its error is
// that of the database.
func (t *Tx) later(q string, args ...any) error {
	if t.inBatch() {
		t.batch.parts = append(t.batch.parts, part{q, args, false})
		return nil
	}
	_, err := t.exec(q, args...)
	return err
}

// require adds a statement that must find or change a row to the batch. Outside a batch its caller
// checks the condition.
func (b *batch) require(q string, args ...any) error {
	b.parts = append(b.parts, part{q, args, true})
	return nil
}

// breaks makes a write that is collected in a batch a transaction.
func (b *batch) breaks() error {
	b.broken = true
	return errNeedsTransaction
}

// statement returns the batch as one statement with its parameters.
func (b *batch) statement() (string, []any) {
	if len(b.parts) == 1 && !b.parts[0].required {
		return b.parts[0].q, b.parts[0].args
	}
	var text, checks strings.Builder
	var args []any
	for i, p := range b.parts {
		name := "s" + strconv.Itoa(i)
		text.WriteString(separated(i, "WITH ") + name + " AS (" + returning(p.q) + ")")
		if p.required {
			checks.WriteString(separated(checks.Len(), "") + "1/CAST(EXISTS (SELECT 1 FROM " + name + ") AS INTEGER)")
		}
		args = append(args, p.args...)
	}
	if checks.Len() == 0 {
		checks.WriteString("1")
	}
	return text.String() + " SELECT " + checks.String(), args
}

// separated returns what precedes an item of a list: first, or a comma.
func separated(items int, first string) string {
	if items == 0 {
		return first
	}
	return ", "
}

// returning returns a statement that returns a row for each that it changes.
func returning(q string) string {
	if strings.HasPrefix(q, "SELECT") || strings.Contains(q, "RETURNING") {
		return q
	}
	return q + " RETURNING 1"
}

// isUnmet reports whether a batch changed nothing, and a transaction reports the reason better or
// succeeds: a required part found no row, a row breaks a rule of the schema, or the database has no such
// statements. CockroachDB rejects those that change a table twice.
func isUnmet(err error) bool {
	e := pq.As(err, pqerror.DivisionByZero, pqerror.FeatureNotSupported)
	return e != nil || isForeignKeyViolation(err) || isUniqueViolation(err)
}
