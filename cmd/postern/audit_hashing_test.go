package main

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Finding 12 of the security audit of November 2026, over HTTP: while three networks guess
// continuously, more than the server can check, a user on a fourth network signs in every
// time. internal/password tests the fairness of the queue.
func TestAudit12UserSignsInDuringAFlood(t *testing.T) {
	w := newTestApp(t, "POSTERN_THROTTLE_ENABLED=false", "POSTERN_PASSWORD_WORKERS=1", "POSTERN_PASSWORD_QUEUE=6")
	var flood sync.WaitGroup
	stop, under := make(chan struct{}), make(chan struct{}, 1)
	for i := range 36 {
		flood.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if status, _ := w.guess(fmt.Sprintf("203.0.%d.1", i%3), fmt.Sprintf("nobody-%d-%d", i, n), "wrong"); status == http.StatusServiceUnavailable {
					select {
					case under <- struct{}{}:
					default:
					}
				}
			}
		})
	}
	<-under // the server rejects guesses, so the queue is full
	for range 5 {
		if status, s := w.guess("198.51.100.7", "admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete {
			t.Errorf("the user is turned away: %d %+v", status, s)
		}
	}
	close(stop)
	flood.Wait()
}
