package store

import (
	"errors"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What the two databases call the failures that mean something here.

// isForeignKeyViolation reports whether a row refers to one that is not there.
// Where SQLite has no foreign key, a trigger stands for one.
func isForeignKeyViolation(err error) bool {
	return isSQLite(err, sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY) || isSQLite(err, sqlite3.SQLITE_CONSTRAINT_TRIGGER) || pq.As(err, pqerror.ForeignKeyViolation) != nil
}

// isUniqueViolation reports whether a row is in the way of another.
func isUniqueViolation(err error) bool {
	return isSQLite(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) || isSQLite(err, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY) || pq.As(err, pqerror.UniqueViolation) != nil
}

// isConflict reports whether a PostgreSQL transaction lost against another one
// and may be run again. One for which the server had no connection may, too: it has
// changed nothing, and the pool now waits for the connections that it has.
func isConflict(err error) bool {
	return pq.As(err, pqerror.TRSerializationFailure, pqerror.TRDeadlockDetected, pqerror.TooManyConnections) != nil
}

func isSQLite(err error, code int) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == code
}
