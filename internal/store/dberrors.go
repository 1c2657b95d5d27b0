package store

import (
	"errors"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// How the two databases report the failures that the store handles.

// isForeignKeyViolation reports whether a row references a missing row. In SQLite stores
// of builds before the baseline, some foreign keys are triggers.
func isForeignKeyViolation(err error) bool {
	return isSQLite(err, sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY) || isSQLite(err, sqlite3.SQLITE_CONSTRAINT_TRIGGER) || pq.As(err, pqerror.ForeignKeyViolation) != nil
}

// isUniqueViolation reports whether the row duplicates a unique value.
func isUniqueViolation(err error) bool {
	return isSQLite(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) || isSQLite(err, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY) || pq.As(err, pqerror.UniqueViolation) != nil
}

// isConflict reports whether a PostgreSQL transaction lost a conflict and may be retried. CockroachDB
// and YugabyteDB use the same codes. A transaction for which the server had no free connection may be retried as well: it changed
// nothing, and the pool now waits for the connections it has.
func isConflict(err error) bool {
	return errors.Is(err, errOvertaken) || pq.As(err, pqerror.TRSerializationFailure, pqerror.TRDeadlockDetected, pqerror.TooManyConnections) != nil
}

func isSQLite(err error, code int) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == code
}
