package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

const (
	beginSavepoint query = `SAVEPOINT job`
	undoSavepoint  query = `ROLLBACK TO job`
	endSavepoint   query = `RELEASE job`
)

func savepointQueries() []query { return []query{beginSavepoint, undoSavepoint, endSavepoint} }

const (
	queueLength  = 1024 // writes that may wait before their callers block
	maxGroupSize = 256  // writes in one commit: bounds how long the first one waits for the last
)

// errClosed is what a write gets that comes after Close.
var errClosed = errors.New("store: closed")

// groupWriter is the one writer of a SQLite database. Its goroutine is the only
// user of the writing connection.
type groupWriter struct {
	db       *pool
	prepared statements
	queue    chan *writeJob
	turn     chan struct{} // holds one value while a serial write waits or runs
	drained  chan struct{} // closed when the goroutine has ended

	mu     sync.RWMutex // held for reading while a job is put into the queue
	closed bool
}

// writeJob is one write. Exactly one side moves it out of waiting: the writer, which
// then answers it, or the caller, who gives up and then is not answered.
type writeJob struct {
	do     func(*tx) error
	state  atomic.Int32
	err    error
	answer chan error
}

const (
	waiting int32 = iota
	started
	abandoned
)

func startGroupWriter(db *pool, prepared statements) *groupWriter {
	w := &groupWriter{db: db, prepared: prepared, queue: make(chan *writeJob, queueLength), turn: make(chan struct{}, 1), drained: make(chan struct{})}
	go w.run()
	return w
}

// write queues do and waits for the commit it becomes part of. When ctx ends
// before the writer has come to it, do never runs. Once it runs, the answer is
// awaited, whatever becomes of ctx: a caller who is told "cancelled" may rely on
// nothing having been written.
func (w *groupWriter) write(ctx context.Context, do func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &writeJob{do: do, answer: make(chan error, 1)}
	if err := w.submit(ctx, j); err != nil {
		return err
	}
	select {
	case err := <-j.answer:
		return err
	case <-ctx.Done():
		if j.state.CompareAndSwap(waiting, abandoned) {
			return ctx.Err()
		}
		return <-j.answer
	}
}

// single is write: one statement more or less makes no difference to a commit.
func (w *groupWriter) single(ctx context.Context, do func(*tx) error) error { return w.write(ctx, do) }

// serial is write: there is one writer. But serial writes read much, and take
// long, so only one of them is ever in the queue: sign-ins wait for that one, and
// not for as many as somebody cares to send.
func (w *groupWriter) serial(ctx context.Context, do func(*tx) error) error {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-w.turn }()
	return w.write(ctx, do)
}

func (w *groupWriter) submit(ctx context.Context, j *writeJob) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return errClosed
	}
	select {
	case w.queue <- j:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close lets the writer finish what is queued.
func (w *groupWriter) close() {
	w.mu.Lock()
	first := !w.closed
	w.closed = true
	w.mu.Unlock()
	if first {
		close(w.queue)
	}
	<-w.drained
}

// run takes everything that waits and commits it together, until the queue is
// closed and empty. While one group is committed the next one gathers, so the
// busier the store, the larger the groups.
func (w *groupWriter) run() {
	defer close(w.drained)
	group := make([]*writeJob, 0, maxGroupSize)
	for j := range w.queue {
		group = append(group[:0], j)
		group = w.collectWaiting(group)
		w.commit(group)
		clear(group)
	}
}

// collectWaiting adds the jobs that wait already to the group. It never waits for more.
func (w *groupWriter) collectWaiting(group []*writeJob) []*writeJob {
	for len(group) < maxGroupSize {
		select {
		case j, open := <-w.queue:
			if !open {
				return group
			}
			group = append(group, j)
		default:
			return group
		}
	}
	return group
}

// commit runs the jobs of a group in one transaction and answers all of them
// when it is durable. If the transaction as a whole fails, they all fail.
func (w *groupWriter) commit(group []*writeJob) {
	group = dropAbandoned(group)
	if len(group) == 0 {
		return
	}
	failure := w.transact(group)
	for _, j := range group {
		if j.err == nil && failure != nil {
			j.err = fmt.Errorf("store: committing: %w", failure)
		}
		j.answer <- w.db.check(j.err)
	}
}

// dropAbandoned drops the jobs whose callers have given up; from here on the others
// cannot.
func dropAbandoned(group []*writeJob) []*writeJob {
	claimed := group[:0]
	for _, j := range group {
		if j.state.CompareAndSwap(waiting, started) {
			claimed = append(claimed, j)
		}
	}
	return claimed
}

// transact runs the jobs in one transaction. Its error is that of the
// transaction; a job's own is in the job.
func (w *groupWriter) transact(group []*writeJob) error {
	begun, err := w.db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	t := &tx{ctx: context.Background(), sql: begun, prepared: w.prepared}
	for _, j := range group {
		if err := t.runInSavepoint(j); err != nil {
			return errors.Join(err, begun.Rollback())
		}
	}
	return begun.Commit()
}

// runInSavepoint runs a job in a savepoint, so that one which fails undoes only
// itself. Its error means that the whole transaction is lost: SQLite undoes all
// of it on its own when the disk is full or cannot be read.
func (t *tx) runInSavepoint(j *writeJob) error {
	if _, err := t.exec(beginSavepoint); err != nil {
		return err
	}
	if j.err = attempt(t, j.do); j.err != nil {
		if _, err := t.exec(undoSavepoint); err != nil {
			return errors.Join(j.err, err)
		}
	}
	_, err := t.exec(endSavepoint)
	return err
}

// attempt runs a write. A panic in it becomes its error: it must not take the
// writes of others down with it.
func attempt(t *tx, do func(*tx) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("store: a write panicked: %v\n%s", v, debug.Stack())
		}
	}()
	t.actor = actor{} // SQLite commits the writes of many callers in one transaction
	return do(t)
}
