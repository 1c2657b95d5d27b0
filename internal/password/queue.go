package password

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Source is the source of a hashing request: the network of one subscriber, and the wider network
// around it, which one attacker may control. Requests without a source share the zero Source.
type Source struct {
	Wide, Near [16]byte
}

// queue assigns the workers of a pool to waiting callers in turns: to each wide network, within it
// to each near network, and within that in order of arrival. So a network with many requests waits
// for itself: another network waits for one turn of each.
//
// The number of waiting callers is limited. When all places are taken, a caller from a network with
// fewer waiting callers replaces the last caller of the network with the most; any other new caller
// fails. An attacker with more networks than places can still fill the queue.
type queue struct {
	mu      sync.Mutex
	idle    int // free workers
	places  int // free places to wait
	waiting networkQueue
}

// waitingCaller is a waiting caller. It receives nil when it has a worker, or an error.
type waitingCaller struct {
	path  [2][16]byte
	ready chan error
}

// acquire returns when the caller has a worker, which release frees. It fails at once if there is
// no place to wait, later if another network gets the place, and when ctx ends.
func (q *queue) acquire(ctx context.Context, from Source) error {
	t := &waitingCaller{path: [2][16]byte{from.Wide, from.Near}, ready: make(chan error, 1)}
	if err := q.join(t); err != nil {
		return err
	}
	select {
	case err := <-t.ready:
		return err
	case <-ctx.Done():
		q.leave(t)
		return fmt.Errorf("waiting to hash a password: %w", ctx.Err())
	}
}

// join takes a worker, or a place to wait.
func (q *queue) join(t *waitingCaller) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.idle > 0:
		q.idle--
		t.ready <- nil
		return nil
	case q.places > 0:
		q.places--
	default:
		last := q.waiting.shed(t.path[:])
		if last == nil {
			return overloaded()
		}
		q.waiting.remove(last, last.path[:])
		last.ready <- overloaded()
	}
	q.waiting.push(t, t.path[:])
	return nil
}

// leave removes a caller that no longer waits. A worker that it has just got is freed.
func (q *queue) leave(t *waitingCaller) {
	q.mu.Lock()
	waited := q.waiting.remove(t, t.path[:])
	if waited {
		q.places++
	}
	q.mu.Unlock()
	if !waited && <-t.ready == nil {
		q.release()
	}
}

// release gives a worker to the next caller.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.waiting.next()
	if t == nil {
		q.idle++
		return
	}
	q.places++
	t.ready <- nil
}

// networkQueue is a tree of waiting callers: each inner node has one lane for each network, and the
// leaves have the callers of one network.
type networkQueue struct {
	key   [16]byte
	count int              // waiting callers in it
	lanes []*networkQueue  // with waiting callers, in order of their turns
	turns []*waitingCaller // in order of arrival
}

// find returns the lane of a network and its index, or nil.
func (l *networkQueue) find(key [16]byte) (int, *networkQueue) {
	i := slices.IndexFunc(l.lanes, func(one *networkQueue) bool { return one.key == key })
	if i < 0 {
		return i, nil
	}
	return i, l.lanes[i]
}

func (l *networkQueue) push(t *waitingCaller, path [][16]byte) {
	l.count++
	if len(path) == 0 {
		l.turns = append(l.turns, t)
		return
	}
	_, to := l.find(path[0])
	if to == nil {
		to = &networkQueue{key: path[0]}
		l.lanes = append(l.lanes, to)
	}
	to.push(t, path[1:])
}

// next removes and returns the caller whose turn it is, nil if there is none. Its lane then becomes
// the last one.
func (l *networkQueue) next() *waitingCaller {
	if l.count == 0 {
		return nil
	}
	l.count--
	if len(l.turns) > 0 {
		t := l.turns[0]
		l.turns = slices.Delete(l.turns, 0, 1)
		return t
	}
	first := l.lanes[0]
	l.lanes = slices.Delete(l.lanes, 0, 1)
	t := first.next()
	if first.count > 0 {
		l.lanes = append(l.lanes, first)
	}
	return t
}

// remove removes a caller from the lane and reports whether it was there.
func (l *networkQueue) remove(t *waitingCaller, path [][16]byte) bool {
	if len(path) == 0 {
		i := slices.Index(l.turns, t)
		if i >= 0 {
			l.turns = slices.Delete(l.turns, i, i+1)
			l.count--
		}
		return i >= 0
	}
	i, in := l.find(path[0])
	if in == nil || !in.remove(t, path[1:]) {
		return false
	}
	if l.count--; in.count == 0 {
		l.lanes = slices.Delete(l.lanes, i, i+1)
	}
	return true
}

// shed returns the caller that loses its place to one more caller of the network of the path: the
// last one of the network with the most. It is nil if that network would then have the most itself.
func (l *networkQueue) shed(path [][16]byte) *waitingCaller {
	if len(path) == 0 || len(l.lanes) == 0 {
		return nil
	}
	most, own := l.longest(), 0
	if _, to := l.find(path[0]); to != nil {
		own = to.count
	}
	switch {
	case most.key == path[0]:
		return most.shed(path[1:])
	case most.count > own+1:
		return most.last()
	}
	return nil
}

// last returns the caller that came last to the longest of the lanes.
func (l *networkQueue) last() *waitingCaller {
	if len(l.lanes) == 0 {
		return l.turns[len(l.turns)-1]
	}
	return l.longest().last()
}

func (l *networkQueue) longest() *networkQueue {
	return slices.MaxFunc(l.lanes, func(a, b *networkQueue) int { return a.count - b.count })
}

func overloaded() error {
	err := schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded,
		"too many passwords are waiting to be checked, and as many from your network as from any other; try again in a second")
	err.RetryAfter = time.Second
	return err
}
