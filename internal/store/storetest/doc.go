// Package storetest is what a store must do, as tests: the same suite passes on
// SQLite and on PostgreSQL, and the part of it that the engine rests on passes
// on any other store that offers the same methods.
//
// It also starts a PostgreSQL server for tests; see [Postgres].
package storetest
