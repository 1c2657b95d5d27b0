package store

import (
	"context"
	"database/sql"
)

// Observe begins to observe a transaction and returns the function that ends it.
type Observe func(ctx context.Context, mode string) (inner context.Context, end func(error))

// The modes of transactions.
const (
	modeWrite    = "write"
	modeSingle   = "single"
	modeSerial   = "serial"
	modeSnapshot = "snapshot"
)

// addObserver observes all transactions of the store.
func (s *Store) addObserver(o Observe) {
	s.observe = func(ctx context.Context, _ string) (context.Context, func(error)) { return ctx, func(error) {} }
	if o != nil {
		s.observe = o
		s.writer = observedWriter{s.writer, o}
	}
}

// observedWriter observes the writes of a writer.
type observedWriter struct {
	writer
	observe Observe
}

func (w observedWriter) write(ctx context.Context, do func(*Tx) error) error {
	ctx, end := w.observe(ctx, modeWrite)
	err := w.writer.write(ctx, do)
	end(err)
	return err
}

func (w observedWriter) single(ctx context.Context, do func(*Tx) error) error {
	ctx, end := w.observe(ctx, modeSingle)
	err := w.writer.single(ctx, do)
	end(err)
	return err
}

func (w observedWriter) serial(ctx context.Context, do func(*Tx) error) error {
	ctx, end := w.observe(ctx, modeSerial)
	err := w.writer.serial(ctx, do)
	end(err)
	return err
}

// Stats contains the current state of the store, and counts since it was opened.
type Stats struct {
	Waiting int   // writes in the queue of SQLite; 0 with PostgreSQL
	Retries int64 // writes to PostgreSQL that were repeated; 0 with SQLite
	// Read is the pool of connections for reading, Write that for writing. With PostgreSQL and for
	// an in-memory store they are the same.
	Read, Write sql.DBStats
	Shared      bool // whether Read is Write
}

// Stats returns the state of the store. It reads nothing from the database.
func (s *Store) Stats() Stats {
	last := s.pools[len(s.pools)-1]
	stats := Stats{Read: s.db.Stats(), Write: last.Stats(), Shared: s.db == last}
	switch w := s.base.(type) {
	case *groupWriter:
		stats.Waiting = len(w.queue)
	case *postgresWriter:
		stats.Retries = w.retries.Load()
	}
	return stats
}
