package simulation_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postern-id/postern/internal/simulation"
)

// turns runs three tasks of three turns each, and returns the order of the turns.
func turns(t *testing.T, seed uint64) (order []string) {
	synctest.Test(t, func(t *testing.T) {
		s := simulation.Scheduler{Rand: rand.New(rand.NewPCG(seed, 0)), Trace: &simulation.Trace{}, Drift: time.Second}
		var tasks []simulation.Task
		for _, name := range []string{"a", "b", "c"} {
			tasks = append(tasks, simulation.Task{Name: name, Do: func(ctx context.Context) {
				for range 3 {
					order = append(order, name) // one task runs at a time
					simulation.Pause(ctx, "turn")
				}
				time.Sleep(time.Minute)
			}})
		}
		s.Run(t.Context(), tasks...)
	})
	return order
}

func TestSchedulerIsDeterministic(t *testing.T) {
	first := turns(t, 1)
	if len(first) != 9 {
		t.Fatalf("got %d turns, expected 9", len(first))
	}
	others := 0
	for seed := range uint64(20) {
		if !slices.Equal(turns(t, seed), first) {
			others++
		}
	}
	if !slices.Equal(turns(t, 1), first) || others < 10 {
		t.Errorf("the same seed must give the same order, and others another: %d of 20 differ from %v", others, first)
	}
}

// A write that pauses lets the writes of other tasks gather. It goes on before all others while a
// function that holds a mutex writes.
func TestPausedWriter(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(20) {
		for _, prefer := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := &simulation.Scheduler{Rand: rand.New(rand.NewPCG(seed, 0)), Trace: &simulation.Trace{}}
				var order []string
				waited := false // whether b had not ended when the writer paused
				resumed := make(chan struct{})
				s.Run(t.Context(), simulation.Task{Name: "a", Do: func(ctx context.Context) {
					if waited = len(order) == 0; prefer {
						s.Prefer("writer")
					}
					go func() {
						s.PauseAs("writer", "statement")
						order = append(order, "writer")
						close(resumed)
					}()
					<-resumed
				}}, simulation.Task{Name: "b", Do: func(ctx context.Context) {
					simulation.Pause(ctx, "read")
					order = append(order, "b")
				}})
				text := strings.Join(order, " ")
				if len(order) != 2 || prefer && waited && text != "writer b" {
					t.Errorf("got %v", order)
				}
				if !prefer {
					orders[text] = true
				}
			})
		}
	}
	if len(orders) != 2 {
		t.Errorf("the writer went on in the orders %v, expected before and after the other task", orders)
	}
}

// A crash in a write while another one waits is shared; a process without tasks crashes after a number
// of operations.
func TestCrashOfSharedWrites(t *testing.T) {
	shared := 0
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			p := &simulation.Process{Rand: rand.New(rand.NewPCG(seed, 1)), Trace: &simulation.Trace{}}
			p.Scheduler = &simulation.Scheduler{Rand: p.Rand, Trace: p.Trace}
			p.SetRates(simulation.Rates{Gather: 500, Crash: 50})
			turn := make(chan struct{}, 1) // writes follow each other
			write := func(ctx context.Context) {
				_ = p.Write(ctx, func() error {
					turn <- struct{}{}
					defer func() { <-turn }()
					_, first := p.Statement("UPDATE a")
					_, second := p.Statement("UPDATE b")
					return errors.Join(first, second)
				})
			}
			p.Scheduler.Run(t.Context(), simulation.Task{Name: "a", Do: write}, simulation.Task{Name: "b", Do: write})
			if p.Shared() && !p.Crashed() {
				t.Error("a process that did not crash crashed in a shared write")
			}
			if p.Shared() {
				shared++
			}
		})
	}
	if shared == 0 {
		t.Error("no crash was in a shared write")
	}
	p := &simulation.Process{Rand: rand.New(rand.NewPCG(1, 1)), Trace: &simulation.Trace{}, CrashAfter: 3}
	for n, want := range []error{nil, nil, simulation.ErrCrashed, simulation.ErrCrashed} {
		if _, err := p.Read(t.Context(), "SELECT 1"); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("operation %d: %v, expected %v", n+1, err, want)
		}
	}
}

// taskOf runs do as a task.
func taskOf(t *testing.T, do func(ctx context.Context)) {
	synctest.Test(t, func(t *testing.T) {
		s := simulation.Scheduler{Rand: rand.New(rand.NewPCG(1, 1)), Trace: &simulation.Trace{}}
		s.Run(t.Context(), simulation.Task{Name: "task", Do: do})
	})
}

func TestFaults(t *testing.T) {
	for name, test := range map[string]struct {
		rates             simulation.Rates
		read, write       error
		committed, undone bool
	}{
		"none":       {committed: true},
		"read":       {rates: simulation.Rates{Read: 1000}, read: driver.ErrBadConn, committed: true},
		"begin":      {rates: simulation.Rates{Begin: 1000}, write: driver.ErrBadConn},
		"statement":  {rates: simulation.Rates{Statement: 1000}, write: driver.ErrBadConn, undone: true},
		"lost reply": {rates: simulation.Rates{Reply: 1000}, write: driver.ErrBadConn, committed: true},
		"crash":      {rates: simulation.Rates{Crash: 1000}, read: simulation.ErrCrashed, write: simulation.ErrCrashed},
	} {
		t.Run(name, func(t *testing.T) {
			taskOf(t, func(ctx context.Context) {
				p := &simulation.Process{Rand: rand.New(rand.NewPCG(1, 1)), Trace: &simulation.Trace{}}
				p.SetRates(test.rates)
				if _, err := p.Read(ctx, "SELECT 1"); !errors.Is(err, test.read) {
					t.Errorf("a read: %v, expected %v", err, test.read)
				}
				committed, undone := false, false
				err := p.Write(ctx, func() error {
					_, err := p.Statement("UPDATE")
					committed, undone = err == nil, err != nil
					return err
				})
				if !errors.Is(err, test.write) || committed != test.committed || undone != test.undone {
					t.Errorf("a write: %v, committed %t, undone %t, expected %+v", err, committed, undone, test)
				}
			})
		})
	}
}

func TestBugs(t *testing.T) {
	p := &simulation.Process{Bug: &simulation.Bug{Lose: 2, Rules: []simulation.Rule{
		{In: "UPDATE a SET", Old: "b = ?", New: "b = b"}, {In: "DELETE FROM c"}}}}
	for q, want := range map[string]string{"UPDATE a SET\n b = ?": "UPDATE a SET b = b", "DELETE FROM c WHERE d = ?": "", "SELECT\n1": "SELECT\n1"} {
		if got, err := p.Statement(q); got != want || err != nil {
			t.Errorf("%q runs as %q, %v, expected %q", q, got, err, want)
		}
	}
	runs := 0
	for range 4 {
		if err := p.Write(t.Context(), func() error { runs++; return nil }); err != nil {
			t.Error(err)
		}
	}
	if runs != 2 {
		t.Errorf("%d of 4 writes ran, expected every other one", runs)
	}
}

func TestTrace(t *testing.T) {
	var one, two simulation.Trace
	one.Keep = 2
	for _, line := range []string{"a", "b", "c", "d", "e"} {
		one.Add("%s", line)
		two.Add("%s", line)
	}
	if one.Digest() != two.Digest() || !strings.HasPrefix(one.Digest(), "5 ") || !slices.Equal(one.Last(), []string{"d", "e"}) {
		t.Errorf("got %s, %s and %v", one.Digest(), two.Digest(), one.Last())
	}
	if two.Add("f"); one.Digest() == two.Digest() {
		t.Error("another line gave the same digest")
	}
}
