package delivery_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/schemas"
)

// A queue that hardly ever reads the store sends at once what its own process queues, and retries
// when a retry is due.
func TestWake(t *testing.T) {
	s := newStore(t)
	attempts := make(chan string)
	failed := map[string]bool{}
	send := delivery.SenderFunc(func(_ context.Context, d schemas.Delivery) error {
		attempts <- string(d.Body)
		if first := !failed[d.ID]; first {
			failed[d.ID] = true
			return context.DeadlineExceeded
		}
		return nil
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	q := delivery.Queue{Store: s, Senders: map[string]delivery.Sender{"test": send}, Log: slog.New(slog.DiscardHandler),
		Poll: time.Hour, Wake: s.Queued(), Backoff: func(int) time.Duration { return time.Millisecond }}
	go func() { defer close(ended); q.Run(ctx) }()
	for _, body := range []string{"first", "second"} {
		enqueue(t, s, "app", body)
		for range 2 {
			if got := <-attempts; got != body {
				t.Errorf("sent %q, want %q", got, body)
			}
		}
		eventually(t, func() bool { return left(t, s) == 0 })
	}
	stop()
	<-ended
}
