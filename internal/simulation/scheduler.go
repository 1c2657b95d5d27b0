package simulation

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// Scheduler runs tasks in turns: at most one runs, and all others wait at a pause. It must be used
// in the bubble of [synctest.Test], by the goroutine of the test.
type Scheduler struct {
	// Rand decides which task goes on.
	Rand *rand.Rand
	// Trace records each turn.
	Trace *Trace
	// Drift is the most time that passes at a turn, once in eight turns.
	Drift time.Duration

	mu      sync.Mutex
	waiting []*pause
	running int
	first   string // the task that goes on before all others; "" for none
}

// Task is a concurrent part of a simulation.
type Task struct {
	Name string
	Do   func(ctx context.Context)

	scheduler *Scheduler
}

// pause is a task that waits for its turn.
type pause struct {
	task, where string
	turn        chan struct{}
}

type taskKey struct{}

// Run runs tasks until all have ended. Their names must differ.
func (s *Scheduler) Run(ctx context.Context, tasks ...Task) {
	s.running = len(tasks)
	for _, t := range tasks {
		t.scheduler = s
		ctx := context.WithValue(ctx, taskKey{}, &t)
		go func() {
			defer s.end()
			Pause(ctx, "start")
			t.Do(ctx)
		}()
	}
	for s.turn() {
	}
}

func (s *Scheduler) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// turn lets one task run to its next pause. It returns false when all have ended.
func (s *Scheduler) turn() bool {
	synctest.Wait()
	s.mu.Lock()
	slices.SortFunc(s.waiting, func(a, b *pause) int { return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.where, b.where)) })
	if s.running == 0 {
		s.mu.Unlock()
		return false
	}
	if len(s.waiting) == 0 { // all tasks wait for a timer
		s.mu.Unlock()
		time.Sleep(100 * time.Millisecond)
		return true
	}
	at := slices.IndexFunc(s.waiting, func(p *pause) bool { return p.task == s.first })
	if at < 0 {
		at = s.Rand.IntN(len(s.waiting))
	}
	next := s.waiting[at]
	s.waiting = slices.Delete(s.waiting, at, at+1)
	s.mu.Unlock()
	if s.Drift > 0 && s.Rand.IntN(8) == 0 {
		time.Sleep(time.Duration(s.Rand.Int64N(int64(s.Drift))))
	}
	s.Trace.Add("turn %s %s", next.task, next.where)
	close(next.turn)
	return true
}

// Pause waits for the next turn of the task that ctx belongs to. Without a task it does nothing.
// The caller must hold no mutex that another task may need: the scheduler waits until all tasks
// are blocked at pauses, channels or timers, and a mutex is none of these.
func Pause(ctx context.Context, where string) {
	t, _ := ctx.Value(taskKey{}).(*Task)
	if t == nil {
		return
	}
	t.scheduler.PauseAs(t.Name, where)
}

// PauseAs is Pause for a part of the program that works for tasks and is none, such as the writer of
// a store. At most one may wait with a name.
func (s *Scheduler) PauseAs(name, where string) {
	p := &pause{name, where, make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, p)
	s.mu.Unlock()
	<-p.turn
}

// Prefer gives each next turn to name, if it waits; "" ends that.
func (s *Scheduler) Prefer(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = name
}

// IsTask reports whether ctx belongs to a task.
func IsTask(ctx context.Context) bool { return ctx.Value(taskKey{}) != nil }
