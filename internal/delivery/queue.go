package delivery

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Store stores the queue.
type Store interface {
	ClaimDelivery(ctx context.Context, kind string, busy []string, now, until time.Time) (*schemas.Delivery, error)
	EndDelivery(ctx context.Context, id string) error
	PutOffDelivery(ctx context.Context, d schemas.Delivery, until time.Time) error
	GiveUpDelivery(ctx context.Context, d schemas.Delivery, e schemas.Event) (bool, error)
	ExpiredDeliveries(ctx context.Context, now time.Time, limit int) ([]schemas.Delivery, error)
}

// Sender sends the deliveries of a kind.
type Sender interface {
	// Send makes one attempt and returns nil if the delivery has arrived. An error that
	// wraps ErrRefused means that a retry is useless; any other error causes a retry. The
	// error is logged, so it must contain no secrets and no personal data. When ctx is done
	// Send returns soon; the delivery is sent again later.
	Send(ctx context.Context, d schemas.Delivery) error
}

// SenderFunc is a function that is a Sender.
type SenderFunc func(ctx context.Context, d schemas.Delivery) error

// Send implements Sender.
func (f SenderFunc) Send(ctx context.Context, d schemas.Delivery) error { return f(ctx, d) }

// ErrRefused means that a delivery is not sent again.
var ErrRefused = errors.New("it was refused")

// Queue sends queued deliveries. Its members must not change while it runs; zero members
// have the defaults below.
type Queue struct {
	Store   Store
	Senders map[string]Sender // by kind; deliveries of other kinds wait
	Log     *slog.Logger

	Parallel  int             // concurrent deliveries of a kind: 8
	PerTarget int             // concurrent deliveries to one target: 1
	Timeout   time.Duration   // for one attempt: 30 s
	Grace     time.Duration   // for attempts in progress when the queue stops: 5 s
	Poll      time.Duration   // how often the store is read for what other processes queued: 5 s
	Wake      <-chan struct{} // receives a value when this process has queued deliveries; nil: never
	Backoff   func(attempts int) time.Duration
	Now       func() time.Time
}

// withDefaults returns the queue with all members set.
func (q Queue) withDefaults() Queue {
	q.Parallel = cmp.Or(q.Parallel, 8)
	q.PerTarget = cmp.Or(q.PerTarget, 1)
	q.Timeout = cmp.Or(q.Timeout, 30*time.Second)
	q.Grace = cmp.Or(q.Grace, 5*time.Second)
	q.Poll = cmp.Or(q.Poll, 5*time.Second)
	if q.Backoff == nil {
		q.Backoff = Backoff
	}
	if q.Now == nil {
		q.Now = time.Now
	}
	return q
}

// lease is the duration of a claim: longer than sending may take, by the tolerated
// difference of clocks.
func (q *Queue) lease() time.Duration { return 2*q.Timeout + q.Grace }

func (q *Queue) now() time.Time { return q.Now().UTC() }

// Run sends due deliveries until ctx is done. Attempts in progress may then finish within
// the grace; the others are put off and sent after the next start.
func (q Queue) Run(ctx context.Context) {
	q = q.withDefaults()
	var workers sync.WaitGroup
	var all []*worker
	for kind, sender := range q.Senders {
		w := &worker{queue: &q, kind: kind, sender: sender, busy: map[string]int{}, done: make(chan string), wake: make(chan struct{}, 1)}
		all = append(all, w)
		workers.Go(func() { w.run(ctx) })
	}
	workers.Go(func() { q.wakeAll(ctx, all) })
	workers.Go(func() { q.expire(ctx) })
	workers.Wait()
}

// wakeAll wakes the workers of all kinds when deliveries were queued.
func (q *Queue) wakeAll(ctx context.Context, all []*worker) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.Wake:
			for _, w := range all {
				w.wakeUp()
			}
		}
	}
}
