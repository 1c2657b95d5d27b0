package password

import (
	"cmp"
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
	idle    int              // free workers
	places  int              // free places to wait
	waiting []*waitingCaller // in order of arrival
	served  int              // counts the callers that got a worker or came to wait
	refused int64            // counts the callers that got no place, or lost it
}

// waitingCaller is a waiting caller. It receives nil when it has a worker, or an error.
type waitingCaller struct {
	Source
	turn  [2]int // of its wide network, and of the near one in it; the least is next
	ready chan error
}

// acquire returns when the caller has a worker, which release frees. It fails at once if there is
// no place to wait, later if another network gets the place, and when ctx ends.
func (q *queue) acquire(ctx context.Context, from Source) error {
	t := &waitingCaller{Source: from, ready: make(chan error, 1)}
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
		q.refused++
		last := q.shed(t.Source)
		if last == nil {
			return overloaded()
		}
		q.remove(last)
		last.ready <- overloaded()
	}
	q.push(t)
	return nil
}

// leave removes a caller that no longer waits. A worker that it has just got is freed.
func (q *queue) leave(t *waitingCaller) {
	q.mu.Lock()
	waited := q.remove(t)
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
	t := q.next()
	if t == nil {
		q.idle++
		return
	}
	q.places++
	t.ready <- nil
}

// push adds a caller. Its networks have the turns of their waiting callers, or the last ones.
func (q *queue) push(t *waitingCaller) {
	q.served++
	t.turn = [2]int{q.served, q.served}
	for _, other := range q.waiting {
		if other.Wide == t.Wide {
			t.turn[0] = other.turn[0]
		}
		if other.Source == t.Source {
			t.turn[1] = other.turn[1]
		}
	}
	q.waiting = append(q.waiting, t)
}

// next removes and returns the caller whose turn it is, nil if there is none. The turn of its
// networks is then the last one.
func (q *queue) next() *waitingCaller {
	if len(q.waiting) == 0 {
		return nil
	}
	t := slices.MinFunc(q.waiting, func(a, b *waitingCaller) int { return slices.Compare(a.turn[:], b.turn[:]) })
	q.remove(t)
	q.served++
	for _, other := range q.waiting {
		if other.Wide == t.Wide {
			other.turn[0] = q.served
		}
		if other.Source == t.Source {
			other.turn[1] = q.served
		}
	}
	return t
}

// remove removes a caller and reports whether it waited.
func (q *queue) remove(t *waitingCaller) bool {
	waiting := len(q.waiting)
	q.waiting = slices.DeleteFunc(q.waiting, func(other *waitingCaller) bool { return other == t })
	return len(q.waiting) < waiting
}

// shed returns the caller that loses its place to one more caller from a source: the last one of
// the near network with the most, in the wide network with the most. It is nil if the networks of
// the source would then have the most themselves.
func (q *queue) shed(from Source) *waitingCaller {
	wide, near := map[[16]byte]int{}, map[Source]int{}
	for _, t := range q.waiting {
		wide[t.Wide]++
		near[t.Source]++
	}
	var most *waitingCaller
	for _, t := range q.waiting {
		if most == nil || cmp.Or(wide[t.Wide]-wide[most.Wide], near[t.Source]-near[most.Source]) >= 0 {
			most = t
		}
	}
	switch {
	case most == nil,
		most.Wide != from.Wide && wide[most.Wide] <= wide[from.Wide]+1,
		most.Wide == from.Wide && near[most.Source] <= near[from]+1:
		return nil
	}
	return most
}

func overloaded() error {
	err := schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded,
		"the server is busy verifying passwords; try again in a second")
	err.RetryAfter = time.Second
	return err
}
