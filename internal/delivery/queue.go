package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Store keeps the queue.
type Store interface {
	ClaimDelivery(ctx context.Context, kind string, busy []string, now, until time.Time) (*schemas.Delivery, error)
	EndDelivery(ctx context.Context, id string) error
	PutOffDelivery(ctx context.Context, d schemas.Delivery, until time.Time) error
	GiveUpDelivery(ctx context.Context, d schemas.Delivery, e schemas.Event) (bool, error)
	ExpiredDeliveries(ctx context.Context, now time.Time, limit int) ([]schemas.Delivery, error)
}

// Sender sends the deliveries of a kind.
type Sender interface {
	// Send sends once, and returns nil when the delivery has arrived. ErrRefused, or
	// an error that wraps it, says that it is no use to send it again; after any
	// other it is sent later. The error is logged, so it must tell no secrets and no
	// personal data. When ctx is done Send returns soon: later others send it too.
	Send(ctx context.Context, d schemas.Delivery) error
}

// ErrRefused is why a delivery is not sent again.
var ErrRefused = errors.New("it was refused")

// Queue sends what is queued. Its members are not changed once it runs; those that
// are zero have the default that is given.
type Queue struct {
	Store   Store
	Senders map[string]Sender // by kind; what has none waits
	Log     *slog.Logger

	Parallel  int           // how many deliveries of a kind are under way at once: 8
	PerTarget int           // and how many of them to one target: 1
	Timeout   time.Duration // how long sending one may take: 30 s
	Grace     time.Duration // how long those under way may take when the queue stops: 5 s
	Poll      time.Duration // how often the store is asked whether something is due: 1 s
	Backoff   func(attempts int) time.Duration
	Now       func() time.Time
}

// withDefaults returns the queue with all members set.
func (q Queue) withDefaults() Queue {
	if q.Parallel == 0 {
		q.Parallel = 8
	}
	if q.PerTarget == 0 {
		q.PerTarget = 1
	}
	if q.Timeout == 0 {
		q.Timeout = 30 * time.Second
	}
	if q.Grace == 0 {
		q.Grace = 5 * time.Second
	}
	if q.Poll == 0 {
		q.Poll = time.Second
	}
	if q.Backoff == nil {
		q.Backoff = Backoff
	}
	if q.Now == nil {
		q.Now = time.Now
	}
	return q
}

// lease is how long a claim lasts: longer than sending may take, by what the
// clocks of instances may differ.
func (q *Queue) lease() time.Duration { return 2*q.Timeout + q.Grace }

func (q *Queue) now() time.Time { return q.Now().UTC() }

// Run sends what is due until ctx is done. What is under way then may finish
// within the grace; what does not is put off, and sent after the next start.
func (q Queue) Run(ctx context.Context) {
	q = q.withDefaults()
	var lines sync.WaitGroup
	for kind, sender := range q.Senders {
		l := &worker{queue: &q, kind: kind, sender: sender, busy: map[string]int{}, done: make(chan string)}
		lines.Go(func() { l.run(ctx) })
	}
	lines.Go(func() { q.expire(ctx) })
	lines.Wait()
}
