package password

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/postern-id/postern/schemas"
)

type sourceKey struct{}

// from returns ctx for a request from a network: near is a part of wide.
func from(ctx context.Context, wide, near byte) context.Context {
	return context.WithValue(ctx, sourceKey{}, Source{Wide: [16]byte{wide}, Near: [16]byte{wide, near}})
}

// stage is a pool whose hashes wait for release, one after the other, and record the
// passwords.
type stage struct {
	*Pool
	began, release chan struct{}
	hashed         []string
	callers        sync.WaitGroup
	mu             sync.Mutex
	refused        []string
}

func newStage(places int) *stage {
	s := &stage{began: make(chan struct{}), release: make(chan struct{})}
	s.Pool = New(Options{MemoryKiB: 64, Iterations: 1, Workers: 1, Queue: places, Source: func(ctx context.Context) Source {
		source, _ := ctx.Value(sourceKey{}).(Source)
		return source
	}})
	s.derive = func(password string, _ phc, _ int) []byte {
		s.hashed = append(s.hashed, password)
		s.began <- struct{}{}
		<-s.release
		return make([]byte, keyLength)
	}
	return s
}

// call hashes a password in the background, and records a rejection.
func (s *stage) call(ctx context.Context, password string) {
	s.callers.Go(func() {
		if _, err := s.Hash(ctx, password); err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.refused = append(s.refused, password)
		}
	})
}

// settled waits until the given numbers of callers wait or were rejected.
func (s *stage) settled(waiting, refused int) {
	for {
		s.queue.mu.Lock()
		s.mu.Lock()
		done := len(s.queue.waiting) == waiting && len(s.refused) == refused
		s.mu.Unlock()
		s.queue.mu.Unlock()
		if runtime.Gosched(); done {
			return
		}
	}
}

// next releases the running hash and waits for the next one.
func (s *stage) next() {
	s.release <- struct{}{}
	<-s.began
}

// end releases all waiting hashes.
func (s *stage) end() {
	go func() {
		for range s.began {
			s.release <- struct{}{}
		}
	}()
	s.release <- struct{}{}
	s.callers.Wait()
	close(s.began)
}

// Finding 12 of the security audit of November 2026: 180 wrong guesses from three networks
// wait or are rejected, and a user from a fourth waits for at most one guess of each of
// them.
func TestAudit12ThreeNetworksDoNotDelayOthers(t *testing.T) {
	s := newStage(64)
	s.call(from(t.Context(), 1, 0), "guess")
	<-s.began
	for i := range 179 {
		s.call(from(t.Context(), byte(i%3), byte(i%7)), "guess")
	}
	s.settled(64, 180-1-64)
	s.call(from(t.Context(), 9, 1), "the user's")
	s.settled(64, 180-64)
	for range 4 {
		s.next()
	}
	if !slices.Contains(s.hashed, "the user's") {
		t.Errorf("after %d guesses the user still waits", len(s.hashed)-1)
	}
	s.end()
	if slices.Contains(s.refused, "the user's") {
		t.Error("the user was refused")
	}
	if len(s.hashed) != 65 {
		t.Errorf("%d were hashed, want all that had a place", len(s.hashed))
	}
}

// The parts of a wide network also take turns, so that an attacker does not gain from many
// addresses of one block, and neighbors are still served.
func TestQueuesTakeTurns(t *testing.T) {
	s := newStage(8)
	s.call(from(t.Context(), 1, 1), "flood")
	<-s.began
	for range 8 {
		s.call(from(t.Context(), 1, 1), "flood")
	}
	s.settled(8, 0)
	s.call(from(t.Context(), 1, 2), "neighbour")
	s.settled(8, 1)
	s.call(from(t.Context(), 2, 1), "other")
	s.settled(8, 2)
	for range 3 {
		s.next()
	}
	if want := []string{"flood", "flood", "other", "neighbour"}; !slices.Equal(s.hashed, want) {
		t.Errorf("the order is %q, want %q", s.hashed, want)
	}
	s.end()
	if slices.Contains(s.refused, "neighbour") || slices.Contains(s.refused, "other") {
		t.Errorf("refused: %q", s.refused)
	}
}

// A network with as many callers as the others cannot displace them.
func TestFullQueueRefuses(t *testing.T) {
	s := newStage(2)
	s.call(from(t.Context(), 1, 1), "one")
	<-s.began
	s.call(from(t.Context(), 1, 1), "one")
	s.call(from(t.Context(), 2, 1), "two")
	s.settled(2, 0)
	for _, wide := range []byte{1, 2, 3} {
		_, err := s.Hash(from(t.Context(), wide, 1), "more")
		if e := schemas.AsError(err); e.Class != schemas.Unavailable || e.Code != schemas.CodeOverloaded || e.RetryAfter <= 0 {
			t.Errorf("network %d: %v", wide, err)
		}
	}
	s.end()
}

// A caller that gives up releases its place, and a worker that it received at the same
// moment.
func TestLeaving(t *testing.T) {
	s := newStage(2)
	s.call(t.Context(), "runs")
	<-s.began
	ctx, cancel := context.WithCancel(from(t.Context(), 1, 1))
	s.call(ctx, "gives up")
	s.settled(1, 0)
	cancel()
	s.settled(0, 1)
	if s.queue.places != 2 || len(s.queue.waiting) != 0 {
		t.Errorf("%d places, %d waiting", s.queue.places, len(s.queue.waiting))
	}
	late := &waitingCaller{ready: make(chan error, 1)}
	if err := s.queue.join(late); err != nil {
		t.Fatal(err)
	}
	s.grant(late)
	s.queue.leave(late)
	if s.queue.idle != 1 || s.queue.places != 2 {
		t.Errorf("%d idle, %d places", s.queue.idle, s.queue.places)
	}
	s.callers.Wait()
}

// grant releases the running hash, so that a turn gets the worker.
func (s *stage) grant(t *waitingCaller) {
	s.release <- struct{}{}
	err := <-t.ready
	t.ready <- err
}

// In any order of calls, the counts of places and workers are right, and every caller is
// answered.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{1, 17, 33, 200, 1, 1, 1, 255, 254})
	f.Fuzz(func(t *testing.T, steps []byte) {
		q := queue{idle: 2, places: 4}
		running := 0
		var in []*waitingCaller
		for _, step := range steps {
			switch {
			case step >= 192 && running > 0:
				q.release()
				running--
			case step >= 128 && len(in) > 0:
				i := int(step) % len(in)
				q.leave(in[i])
				in = slices.Delete(in, i, i+1)
			default:
				turn := &waitingCaller{Source: Source{Wide: [16]byte{step % 4}, Near: [16]byte{step / 4 % 4}}, ready: make(chan error, 1)}
				if q.join(turn) == nil {
					in = append(in, turn)
				}
			}
			in = slices.DeleteFunc(in, func(t *waitingCaller) bool {
				select {
				case err := <-t.ready:
					if err == nil {
						running++
					}
					return true
				default:
					return false
				}
			})
			if running+q.idle != 2 || len(in)+q.places != 4 || len(q.waiting) != len(in) || len(in) > 0 && q.idle > 0 {
				t.Fatalf("%d run, %d idle, %d wait, %d counted, %d places", running, q.idle, len(in), len(q.waiting), q.places)
			}
		}
	})
}
