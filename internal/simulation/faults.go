package simulation

import (
	"context"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
)

// Rates are the probabilities of faults, in thousandths.
type Rates struct {
	// Read, Begin and Statement are of a store that is unavailable for a read, at the begin of a
	// write, and in the middle of one, which is undone.
	Read, Begin, Statement int
	// Reply is of a write that is durable and reports a failure, as a lost connection does.
	Reply int
	// Crash is of a process that ends at any of these moments.
	Crash int
	// Gather is of a write that waits before a statement. The writes of other tasks gather meanwhile
	// and share the next commit.
	Gather int
}

// ErrCrashed is the error of every access to the store after a crash.
var ErrCrashed = errors.New("simulation: the process has crashed")

// Process is a running server. It implements the hooks of its store: it pauses the task at each
// access, and injects faults.
type Process struct {
	// Rand decides which faults happen.
	Rand *rand.Rand
	// Trace records the faults.
	Trace *Trace
	// Bug replaces statements; nil for none.
	Bug *Bug

	// Locked are functions that access the store while they hold a mutex, by the ends of their
	// names. In them tasks do not pause, because another task could wait for the mutex.
	Locked []string

	// Scheduler runs the tasks. It is needed for Rates.Gather.
	Scheduler *Scheduler
	// CrashAfter is after how many operations of a process without tasks, such as one that starts, it
	// crashes; 0 for never.
	CrashAfter int

	rates   Rates
	writing atomic.Int32 // how many writes of tasks have begun and not ended
	urgent  atomic.Int32 // how many of them are of Locked functions
	shared  bool
	crashed atomic.Bool
}

// SetRates sets the rates from now on.
func (p *Process) SetRates(r Rates) { p.rates = r }

// Crash ends the process: each further access to the store fails.
func (p *Process) Crash() {
	if p.crashed.CompareAndSwap(false, true) {
		p.Trace.Add("crash")
	}
}

// Crashed reports whether the process has ended. A reply that it produced afterwards was never
// sent.
func (p *Process) Crashed() bool { return p.crashed.Load() }

// Shared reports whether the process crashed within a write while others waited for theirs.
func (p *Process) Shared() bool { return p.shared }

// pause lets other tasks run.
func (p *Process) pause(ctx context.Context, where string) {
	if !p.isLocked() {
		Pause(ctx, where)
	}
}

// isLocked reports whether a Locked function accesses the store.
func (p *Process) isLocked() bool {
	var stack [64]uintptr
	frames := runtime.CallersFrames(stack[:runtime.Callers(4, stack[:])])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if slices.ContainsFunc(p.Locked, func(name string) bool { return strings.HasSuffix(f.Function, name) }) {
			return true
		}
	}
	return false
}

// Read implements store.Hooks.
func (p *Process) Read(ctx context.Context, q string) (string, error) {
	if IsTask(ctx) {
		p.pause(ctx, "read")
		if err := p.fault("read", p.rates.Read); err != nil {
			return "", err
		}
	}
	if err := p.operation(); err != nil {
		return "", err
	}
	return p.Bug.replace(q), nil
}

// Write implements store.Hooks.
func (p *Process) Write(ctx context.Context, commit func() error) error {
	if !IsTask(ctx) {
		if err := p.operation(); err != nil {
			return err
		}
		if err := p.Bug.around(commit); err != nil {
			return err
		}
		return p.operation()
	}
	p.pause(ctx, "begin")
	if err := p.fault("begin", p.rates.Begin); err != nil {
		return err
	}
	p.writing.Add(1)
	err := p.commit(commit)
	p.pause(ctx, "committed") // the writes of other tasks can end at the same moment
	p.writing.Add(-1)         // in the turn of the task, when the writer does not read the number
	if err != nil {
		return err
	}
	return p.fault("reply", p.rates.Reply)
}

// commit runs the write of a task.
func (p *Process) commit(commit func() error) error {
	if p.rates.Gather > 0 && p.isLocked() {
		p.urgent.Add(1)
		p.Scheduler.Prefer(writer)
		defer func() {
			if p.urgent.Add(-1) == 0 {
				p.Scheduler.Prefer("")
			}
		}()
	}
	return p.Bug.around(commit)
}

// writer is the name of the writer of the store for the scheduler.
const writer = "writer"

// operation counts an operation that belongs to no task.
func (p *Process) operation() error {
	if p.CrashAfter > 0 {
		if p.CrashAfter--; p.CrashAfter == 0 {
			p.Crash()
		}
	}
	if p.Crashed() {
		return ErrCrashed
	}
	return nil
}

// Statement implements store.Hooks.
func (p *Process) Statement(q string) (string, error) {
	if p.writing.Load() == 0 {
		if err := p.operation(); err != nil {
			return "", err
		}
		return p.Bug.replace(q), nil
	}
	if p.rates.Gather > 0 && p.urgent.Load() == 0 && p.Rand.IntN(1000) < p.rates.Gather {
		p.Scheduler.PauseAs(writer, "statement")
	}
	if err := p.fault("statement", p.rates.Statement); err != nil {
		return "", err
	}
	return p.Bug.replace(q), nil
}

// fault decides whether a fault happens.
func (p *Process) fault(where string, rate int) error {
	n, crash := p.Rand.IntN(1000), p.rates.Crash
	shared := where == "statement" && p.writing.Load() > 1
	if shared {
		crash *= 4 // they are rare
	}
	switch {
	case p.Crashed():
		return ErrCrashed
	case n < crash:
		p.Trace.Add("at %s", where)
		p.shared = shared
		p.Crash()
		return ErrCrashed
	case n >= 1000-rate:
		p.Trace.Add("unavailable at %s", where)
		return driver.ErrBadConn
	}
	return nil
}

// Bug is a planted defect: it changes the statements of a store, as if the product had other ones.
type Bug struct {
	Name  string
	Rules []Rule
	// Lose is how many writes are acknowledged for one that is and never runs; 0 means that none is
	// lost.
	Lose int

	writes int
}

// Rule replaces a part of the statements that contain a text. Statements are compared with single
// spaces for white space.
type Rule struct {
	// In is a part of the statements. An empty Old means that they do not run.
	In, Old, New string
}

// replace returns the statement to run; "" for none.
func (b *Bug) replace(q string) string {
	if b == nil {
		return q
	}
	plain := strings.Join(strings.Fields(q), " ")
	for _, r := range b.Rules {
		switch {
		case !strings.Contains(plain, r.In):
		case r.Old == "":
			return ""
		default:
			q = strings.Replace(plain, r.Old, r.New, 1)
			plain = q
		}
	}
	return q
}

// around runs a commit, or loses it.
func (b *Bug) around(commit func() error) error {
	if b != nil && b.Lose > 0 {
		if b.writes++; b.writes%b.Lose == 0 {
			return nil
		}
	}
	return commit()
}
