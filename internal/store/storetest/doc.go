// Package storetest is the test suite of stores. The whole suite passes on SQLite and on
// PostgreSQL. The part for the engine passes on any store with the methods of RunStore.
//
// It also starts a PostgreSQL server for tests; see [Postgres].
package storetest
