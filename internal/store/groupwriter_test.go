package store

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

func openFile(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Driver: "sqlite", DSN: filepath.Join(t.TempDir(), "a ?#%", "store.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// block keeps the writer busy until the function it returns is called.
func block(s *Store) (release func()) {
	running, blocked := make(chan struct{}), make(chan struct{})
	go s.writer.write(context.Background(), func(*Tx) error {
		close(running)
		<-blocked
		return nil
	})
	<-running
	return sync.OnceFunc(func() { close(blocked) })
}

// queued waits until n writes wait for the writer.
func queued(s *Store, n int) {
	for len(s.base.(*groupWriter).queue) < n {
		time.Sleep(time.Millisecond)
	}
}

func putRun(id string) func(*Tx) error {
	return func(t *Tx) error { return t.putRun(&schemas.Run{ID: id, Revision: 1}) }
}

func wantRun(t *testing.T, s *Store, id string, want bool) {
	t.Helper()
	if _, err := s.Run(t.Context(), id); (err == nil) != want {
		t.Errorf("reading run %q gives %v, expected it there: %v", id, err, want)
	}
}

// TestGroupFailures runs a group in which one write fails and one panics, both after they
// have written.
func TestGroupFailures(t *testing.T) {
	s := openFile(t)
	release := block(s)
	defer release()
	broken := errors.New("broken")
	jobs := map[string]func(*Tx) error{
		"good": putRun("good"),
		"bad": func(t *Tx) error {
			return errors.Join(putRun("bad")(t), broken)
		},
		"panic": func(t *Tx) error {
			if err := putRun("panic")(t); err != nil {
				return err
			}
			t.row("SELECT 1 FROM runs WHERE id = ?", "panic") // whose result stays open
			panic("at the disco")
		},
		"fine": putRun("fine"),
	}
	var mu sync.Mutex
	results := map[string]error{}
	var done sync.WaitGroup
	for name, do := range jobs {
		done.Go(func() {
			err := s.writer.write(t.Context(), do)
			mu.Lock()
			defer mu.Unlock()
			results[name] = err
		})
	}
	queued(s, len(jobs))
	release()
	done.Wait()

	if results["good"] != nil || results["fine"] != nil {
		t.Errorf("the good writes were answered with %v and %v", results["good"], results["fine"])
	}
	if !errors.Is(results["bad"], broken) {
		t.Errorf("the bad write was answered with %v", results["bad"])
	}
	if err := results["panic"]; err == nil || !strings.Contains(err.Error(), "at the disco") {
		t.Errorf("the write that panicked was answered with %v", err)
	}
	for _, name := range []string{"good", "fine"} {
		wantRun(t, s, name, true)
	}
	for _, name := range []string{"bad", "panic"} {
		wantRun(t, s, name, false)
	}
	if err := s.writer.write(t.Context(), putRun("after")); err != nil {
		t.Errorf("the writer did not survive: %v", err)
	}
}

// However many serial writes there are, another write waits for no more of them
// than is running.
func TestSerialWritesDoNotBlockOthers(t *testing.T) {
	s := openFile(t)
	running, blocked := make(chan struct{}), make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		s.writer.serial(context.Background(), func(*Tx) error { close(running); <-blocked; return nil })
	})
	<-running
	var order []string // written by the one writer
	note := func(name string) func(*Tx) error {
		return func(*Tx) error { order = append(order, name); return nil }
	}
	for range 10 {
		done.Go(func() { s.writer.serial(context.Background(), note("serial")) })
	}
	time.Sleep(10 * time.Millisecond) // for them to come first, were they let
	done.Go(func() { s.writer.write(context.Background(), note("sign-in")) })
	queued(s, 1)
	if n := len(s.base.(*groupWriter).queue); n != 1 {
		t.Errorf("%d writes are in the queue, expected the sign-in alone", n)
	}
	close(blocked)
	done.Wait()
	if len(order) != 11 || order[0] != "sign-in" {
		t.Errorf("the order is %q", order)
	}

	ctx, cancel := context.WithCancel(t.Context())
	s.base.(*groupWriter).turn <- struct{}{}
	cancel()
	if err := s.writer.serial(ctx, note("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up waiting was answered with %v", err)
	}
}

func TestCanceledWhileQueued(t *testing.T) {
	s := openFile(t)
	release := block(s)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error)
	go func() { answer <- s.writer.write(ctx, putRun("late")) }()
	queued(s, 1)
	cancel()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("the write was answered with %v, expected that it was cancelled", err)
	}
	release()
	if err := s.writer.write(t.Context(), putRun("next")); err != nil {
		t.Fatal(err)
	}
	wantRun(t, s, "late", false)
	if err := s.writer.write(ctx, putRun("never")); !errors.Is(err, context.Canceled) {
		t.Errorf("a write that was cancelled before it was queued was answered with %v", err)
	}
}

func TestCanceledWhileRunning(t *testing.T) {
	s := openFile(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := s.writer.write(ctx, func(t *Tx) error {
		cancel()
		return putRun("running")(t)
	})
	if err != nil {
		t.Errorf("the write was answered with %v, and it has happened", err)
	}
	wantRun(t, s, "running", true)
}

// TestFailingCommit has the COMMIT itself fail, on a foreign key that is only
// checked then: every write in the group fails.
func TestFailingCommit(t *testing.T) {
	s := openFile(t)
	release := block(s)
	defer release()
	const members = 3
	answers := make(chan error, members)
	for i := range members {
		go func() {
			answers <- s.writer.write(t.Context(), func(t *Tx) error {
				if i == 1 {
					if _, err := t.sql.ExecContext(t.ctx, "PRAGMA defer_foreign_keys = 1"); err != nil {
						return err
					}
					_, err := t.exec(insertIdentifier, "nobody", "nobody", nil)
					return err
				}
				return putRun(string(rune('a' + i)))(t)
			})
		}()
	}
	queued(s, members)
	release()
	for range members {
		if err := <-answers; err == nil || !strings.Contains(err.Error(), "committing") {
			t.Errorf("a write of a group that was not committed was answered with %v", err)
		}
	}
	wantRun(t, s, "a", false)
	wantRun(t, s, "c", false)
	if err := s.writer.write(t.Context(), putRun("after")); err != nil {
		t.Errorf("the writer did not survive: %v", err)
	}
}

// TestLostTransaction has the whole transaction undone in the midst of a group,
// as SQLite does when the disk is full.
func TestLostTransaction(t *testing.T) {
	s := openFile(t)
	release := block(s)
	defer release()
	first, second := make(chan error), make(chan error)
	go func() { first <- s.writer.write(t.Context(), putRun("first")) }()
	queued(s, 1)
	go func() {
		second <- s.writer.write(t.Context(), func(t *Tx) error {
			_, err := t.sql.ExecContext(t.ctx, "ROLLBACK")
			return errors.Join(err, errors.New("disk full"))
		})
	}()
	queued(s, 2)
	release()
	if err := <-first; err == nil {
		t.Error("a write that was undone was answered without an error")
	}
	if err := <-second; err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("the write that lost the transaction was answered with %v", err)
	}
	wantRun(t, s, "first", false)
	if err := s.writer.write(t.Context(), putRun("after")); err != nil {
		t.Errorf("the writer did not survive: %v", err)
	}
}

func TestClosed(t *testing.T) {
	s := openFile(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.writer.write(t.Context(), putRun("late")); !errors.Is(err, errClosed) {
		t.Errorf("a write after Close was answered with %v, expected %v", err, errClosed)
	}
	if _, err := s.Run(t.Context(), "late"); err == nil {
		t.Error("a read after Close succeeded")
	}
}
