package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postern-id/postern/internal/store"
)

// A command that takes longer than progressDelay reports its progress on standard error: on a
// terminal in one line that changes, elsewhere in a line every progressInterval.
const (
	progressDelay    = 2 * time.Second
	progressInterval = 10 * time.Second
)

// progress reports the progress of a long command.
type progress struct {
	to       io.Writer
	terminal bool
	started  time.Time
	rows     atomic.Int64
	mu       sync.Mutex
	label    string
	shown    bool
	done     chan struct{}
	ended    sync.WaitGroup
}

// startProgress begins to report. The caller must call stop.
func (p program) startProgress(label string) *progress {
	return newProgress(p.stderr, isTerminal(p.stderr) && p.getenv("TERM") != "dumb", label)
}

func newProgress(to io.Writer, terminal bool, label string) *progress {
	r := &progress{to: to, terminal: terminal, label: label, started: time.Now(), done: make(chan struct{})}
	r.ended.Go(r.report)
	return r
}

func (r *progress) report() {
	interval := progressInterval
	if r.terminal {
		interval = time.Second
	}
	timer := time.NewTimer(progressDelay)
	defer timer.Stop()
	for {
		select {
		case <-r.done:
			return
		case <-timer.C:
			r.print()
			timer.Reset(interval)
		}
	}
}

// print prints the current line.
func (r *progress) print() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = true
	text := r.label
	if n := r.rows.Load(); n > 0 {
		text += fmt.Sprintf(": %d rows", n)
	}
	text += fmt.Sprintf(" (%s)", time.Since(r.started).Round(time.Second))
	if r.terminal {
		fmt.Fprintf(r.to, "\r\x1b[K%s", text)
	} else {
		fmt.Fprintln(r.to, text)
	}
}

// next begins another part of the command.
func (r *progress) next(label string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.label = label
	r.rows.Store(0)
}

// stop ends the report. It may be called again.
func (r *progress) stop() {
	select {
	case <-r.done:
		return
	default:
		close(r.done)
	}
	r.ended.Wait()
	if r.terminal && r.shown {
		fmt.Fprint(r.to, "\r\x1b[K")
	}
}

// counted counts the rows that go to a sink.
func (r *progress) counted(to store.RowSink) store.RowSink { return countingSink{to, r} }

type countingSink struct {
	store.RowSink
	progress *progress
}

// Row implements store.RowSink.
func (c countingSink) Row(values []any) error {
	c.progress.rows.Add(1)
	return c.RowSink.Row(values)
}
