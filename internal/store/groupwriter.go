package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/postern-id/postern/schemas"
)

const (
	// A write lock that is taken at the first write cannot be waited for.
	beginGroup = `BEGIN IMMEDIATE`
	undoGroup  = `ROLLBACK`
	endGroup   = `COMMIT`

	beginSavepoint = `SAVEPOINT job`
	undoSavepoint  = `ROLLBACK TO job`
	endSavepoint   = `RELEASE job`
)

const (
	queueLength  = 1024 // writes that may wait before their callers block
	maxGroupSize = 256  // writes in one commit: bounds how long the first one waits for the last

	carefulGroups = 64 // groups with savepoints after a group in which a write failed
)

// errClosed is the error of a write after Close.
var errClosed = errors.New("store: closed")

// groupWriter is the only writer of a SQLite database. Only its goroutine uses the writing
// connection.
type groupWriter struct {
	db      *pool
	queue   chan *writeJob
	turn    chan struct{} // holds one value while a serial write waits or runs
	drained chan struct{} // closed when the goroutine has ended
	careful int           // how many of the next groups have savepoints

	mu     sync.RWMutex // held for reading while a job is put into the queue
	closed bool
}

// writeJob is one write. Exactly one side moves it out of waiting: the writer, which then
// answers it, or the caller, who gives up and gets no answer.
type writeJob struct {
	do     func(*Tx) error
	origin *schemas.Origin
	state  atomic.Int32
	err    error
	answer chan error
}

const (
	waiting int32 = iota
	started
	abandoned
)

func startGroupWriter(db *pool) *groupWriter {
	w := &groupWriter{db: db, queue: make(chan *writeJob, queueLength), turn: make(chan struct{}, 1), drained: make(chan struct{})}
	go w.run()
	return w
}

// write queues do and waits for its commit. If ctx ends before the writer starts do, do never
// runs. Once do runs, write waits for the result regardless of ctx: a "canceled" error
// guarantees that nothing was written.
func (w *groupWriter) write(ctx context.Context, do func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &writeJob{do: do, origin: schemas.OriginOf(ctx), answer: make(chan error, 1)}
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

// single is write: the commit is shared with other writes anyway.
func (w *groupWriter) single(ctx context.Context, do func(*Tx) error) error { return w.write(ctx, do) }

// serial is write, because there is one writer. Serial writes are long, so at most one of them
// is in the queue: sign-ins never wait for more than one.
func (w *groupWriter) serial(ctx context.Context, do func(*Tx) error) error {
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

// close waits until the writer has finished the queue.
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

// run commits all waiting writes together until the queue is closed and empty. The next group
// gathers during a commit, so groups grow with the load.
func (w *groupWriter) run() {
	defer close(w.drained)
	group := make([]*writeJob, 0, maxGroupSize)
	for j := range w.queue {
		runtime.Gosched() // requests that run at the moment may add their writes to the group
		group = append(group[:0], j)
		group = w.collectWaiting(group)
		w.commit(group)
		clear(group)
	}
}

// collectWaiting adds the jobs that already wait to the group. It does not block.
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

// commit runs the jobs of a group in one transaction and answers them when it is durable. If
// the transaction fails, all jobs fail.
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

// dropAbandoned removes the jobs whose callers have given up. After that, callers can no
// longer give up.
func dropAbandoned(group []*writeJob) []*writeJob {
	claimed := group[:0]
	for _, j := range group {
		if j.state.CompareAndSwap(waiting, started) {
			claimed = append(claimed, j)
		}
	}
	return claimed
}

// transact runs the jobs in one transaction. It returns the error of the transaction; each job
// holds its own error. Savepoints cost more than many writes, because SQLite copies each page that is
// written in one, so the jobs run without them first: if one fails, all are undone and run again, each
// in a savepoint. Callers whose writes fail on purpose could make every group run twice, so the next
// groups have savepoints at once.
func (w *groupWriter) transact(group []*writeJob) error {
	if w.careful > 0 {
		w.careful--
		return w.runTogether(group, (*Tx).runInSavepoint)
	}
	err := w.runTogether(group, (*Tx).runJob)
	switch {
	case !errors.Is(err, errJobFailed):
		return err
	case len(group) == 1:
		return nil // its error is that of the job
	}
	w.careful = carefulGroups
	return w.runTogether(group, (*Tx).runInSavepoint)
}

// runTogether runs the jobs in one transaction, and undoes all of them after an error of run. It uses no
// sql.Tx, which starts a goroutine for each query.
func (w *groupWriter) runTogether(group []*writeJob, run func(*Tx, *writeJob) error) error {
	ctx := context.Background()
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	t := &Tx{ctx: ctx, sql: conn}
	if _, err := t.exec(beginGroup); err != nil {
		return err
	}
	for _, j := range group {
		if err := run(t, j); err != nil {
			_, undo := t.exec(undoGroup)
			return errors.Join(err, undo)
		}
	}
	if _, err := t.exec(endGroup); err != nil {
		_, _ = t.exec(undoGroup) // it fails if the transaction has ended
		return err
	}
	return nil
}

// errJobFailed reports that a job failed, which holds the error.
var errJobFailed = errors.New("store: a write failed")

// runJob runs a job without a savepoint.
func (t *Tx) runJob(j *writeJob) error {
	t.origin = j.origin
	if j.err = attempt(t, j.do); j.err != nil {
		return errJobFailed
	}
	return nil
}

// runInSavepoint runs a job in a savepoint, so that a failure undoes only that job. An error
// means that the transaction is lost: SQLite rolls it back if the disk is full or unreadable.
func (t *Tx) runInSavepoint(j *writeJob) error {
	if _, err := t.exec(beginSavepoint); err != nil {
		return err
	}
	t.origin = j.origin
	if j.err = attempt(t, j.do); j.err != nil {
		if _, err := t.exec(undoSavepoint); err != nil {
			return errors.Join(j.err, err)
		}
	}
	_, err := t.exec(endSavepoint)
	return err
}

// attempt runs a write and converts a panic to its error, so that it does not affect the
// writes of other callers.
func attempt(t *Tx, do func(*Tx) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("store: a write panicked: %v\n%s", v, debug.Stack())
			t.closeRow()
		}
	}()
	t.actor, t.serial = actor{}, false // SQLite commits the writes of many callers in one transaction
	return do(t)
}
