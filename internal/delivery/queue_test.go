package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

func openStore(t *testing.T, path string) *store.Store {
	t.Helper()
	return storetest.OpenEmpty(t, store.Config{Driver: "sqlite", DSN: path})
}

func newStore(t *testing.T) *store.Store {
	return openStore(t, filepath.Join(t.TempDir(), "postern.db"))
}

func enqueue(t *testing.T, s *store.Store, target, body string) schemas.Delivery {
	t.Helper()
	now := time.Now().UTC()
	d := schemas.Delivery{ID: schemas.NewID(), Kind: "test", Target: target, Body: []byte(body), CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	return put(t, s, d)
}

func put(t *testing.T, s *store.Store, d schemas.Delivery) schemas.Delivery {
	t.Helper()
	if err := s.Apply(t.Context(), []schemas.Change{schemas.QueueDelivery{Delivery: d}}); err != nil {
		t.Fatal(err)
	}
	return d
}

// start runs a queue on a store; stop stops it and waits until it has.
func start(t *testing.T, q delivery.Queue, s *store.Store, send delivery.Sender) (stop func(), logged *logtest.Buffer) {
	logged = &logtest.Buffer{}
	q.Store, q.Senders = s, map[string]delivery.Sender{"test": send}
	q.Log, q.Poll = slog.New(slog.NewTextHandler(logged, nil)), time.Millisecond
	if q.Backoff == nil {
		q.Backoff = func(int) time.Duration { return 0 }
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { q.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop, logged
}

// left is how many deliveries of the tests' kind are in a store.
func left(t *testing.T, s *store.Store) (n int) {
	t.Helper()
	far := time.Now().Add(1000 * time.Hour)
	expired, err := s.ExpiredDeliveries(t.Context(), far, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(expired)
}

func events(t *testing.T, s *store.Store) []schemas.Event {
	t.Helper()
	events, err := s.Events(t.Context(), schemas.EventQuery{Action: "delivery.given_up", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// eventually waits until a condition holds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for !holds() {
		select {
		case <-t.Context().Done():
			t.Fatal("the test ended before what it waits for")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestSend(t *testing.T) {
	refused := fmt.Errorf("no such client: %w", delivery.ErrRefused)
	for name, test := range map[string]struct {
		answers  []error // of the attempts; the last repeats
		lives    time.Duration
		backoff  time.Duration
		attempts int
		reason   string // of the event; "" if it arrives
	}{
		"at once":                  {answers: []error{nil}, lives: time.Hour, attempts: 1},
		"after failures":           {answers: []error{errors.New("down"), errors.New("down"), nil}, lives: time.Hour, attempts: 3},
		"refused":                  {answers: []error{refused}, lives: time.Hour, attempts: 1, reason: "refused"},
		"refused after a failure":  {answers: []error{errors.New("down"), refused}, lives: time.Hour, attempts: 2, reason: "refused"},
		"not again before the end": {answers: []error{errors.New("down")}, lives: time.Hour, backoff: 2 * time.Hour, attempts: 1, reason: "expired"},
		"over before it began":     {lives: -time.Hour, reason: "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			s, now := newStore(t), time.Now().UTC()
			d := put(t, s, schemas.Delivery{ID: schemas.NewID(), Kind: "test", Target: "app", Body: []byte("hidden"), CreatedAt: now.Add(-2 * time.Hour), ExpiresAt: now.Add(test.lives)})
			got := make(chan schemas.Delivery, 10)
			attempts := 0
			stop, logged := start(t, delivery.Queue{Backoff: func(int) time.Duration { return test.backoff }}, s, delivery.SenderFunc(func(_ context.Context, d schemas.Delivery) error {
				attempts++
				got <- d
				return test.answers[min(attempts, len(test.answers))-1]
			}))
			eventually(t, func() bool { return left(t, s) == 0 })
			stop()
			if attempts != test.attempts {
				t.Errorf("it was sent %d times, expected %d", attempts, test.attempts)
			}
			for i := range attempts {
				if sent := <-got; sent.ID != d.ID || string(sent.Body) != "hidden" || sent.Attempts != i+1 {
					t.Errorf("attempt %d sent %+v, expected %+v", i+1, sent, d)
				}
			}
			wantEvents(t, events(t, s), d, test.attempts, test.reason)
			if strings.Contains(logged.String(), "hidden") {
				t.Errorf("the log contains the body: %s", logged)
			}
		})
	}
}

func wantEvents(t *testing.T, recorded []schemas.Event, d schemas.Delivery, attempts int, reason string) {
	t.Helper()
	if reason == "" {
		if len(recorded) > 0 {
			t.Errorf("%+v is recorded of what has arrived", recorded)
		}
		return
	}
	want := fmt.Sprint(map[string]string{"kind": "test", "target": "app", "attempts": fmt.Sprint(attempts), "reason": reason})
	if len(recorded) != 1 || recorded[0].Resource.ID != d.ID || fmt.Sprint(recorded[0].Detail) != want {
		t.Errorf("the events are %+v, expected one of %s with %s", recorded, d.ID, want)
	}
}

// Targets that do not answer delay only their own deliveries, and get no more concurrent
// deliveries than allowed.
func TestSlowTargets(t *testing.T) {
	const others = 30
	s := newStore(t)
	for i := range 20 {
		enqueue(t, s, fmt.Sprint("slow", i%3), "")
	}
	for i := range others {
		enqueue(t, s, fmt.Sprint("app", i%5), "")
	}
	var mu sync.Mutex
	underWay, arrived := map[string]int{}, 0
	stop, _ := start(t, delivery.Queue{Parallel: 8, PerTarget: 2, Grace: time.Millisecond}, s, delivery.SenderFunc(func(ctx context.Context, d schemas.Delivery) error {
		mu.Lock()
		if underWay[d.Target]++; underWay[d.Target] > 2 {
			t.Errorf("%d deliveries to %s are under way", underWay[d.Target], d.Target)
		}
		mu.Unlock()
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			underWay[d.Target]--
		}()
		if strings.HasPrefix(d.Target, "slow") {
			<-ctx.Done()
			return ctx.Err()
		}
		mu.Lock()
		arrived++
		mu.Unlock()
		return nil
	}))
	eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return arrived == others })
	stop()
	if n := left(t, s); n != 20 {
		t.Errorf("%d deliveries are left, expected the 20 that did not arrive", n)
	}
}

// Several instances send each delivery once.
func TestInstances(t *testing.T) {
	const deliveries = 60
	path := filepath.Join(t.TempDir(), "postern.db")
	s := openStore(t, path)
	for range deliveries {
		enqueue(t, s, "", "")
	}
	var mu sync.Mutex
	sent := map[string]int{}
	for range 3 {
		start(t, delivery.Queue{}, s, delivery.SenderFunc(func(_ context.Context, d schemas.Delivery) error {
			mu.Lock()
			defer mu.Unlock()
			sent[d.ID]++
			return nil
		}))
	}
	eventually(t, func() bool { return left(t, s) == 0 })
	mu.Lock()
	defer mu.Unlock()
	for id, n := range sent {
		if n != 1 {
			t.Errorf("%s was sent %d times", id, n)
		}
	}
	if len(sent) != deliveries {
		t.Errorf("%d deliveries were sent, expected %d", len(sent), deliveries)
	}
}

// A queue that stops lets attempts in progress finish.
func TestStop(t *testing.T) {
	s := newStore(t)
	enqueue(t, s, "app", "")
	begun, finish := make(chan bool), make(chan bool)
	stop, _ := start(t, delivery.Queue{Grace: time.Hour}, s, delivery.SenderFunc(func(ctx context.Context, _ schemas.Delivery) error {
		close(begun)
		<-finish
		return ctx.Err()
	}))
	<-begun
	stopped := make(chan bool)
	go func() { stop(); close(stopped) }()
	select {
	case <-stopped:
		t.Error("the queue has stopped while it was sending")
	case <-time.After(20 * time.Millisecond):
	}
	close(finish)
	<-stopped
	if n := left(t, s); n != 0 {
		t.Errorf("%d deliveries are left, expected none", n)
	}
}

// Secret bodies are stored sealed and are bound to their delivery.
func TestSealed(t *testing.T) {
	box, err := token.NewCipher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	sealer, s := delivery.Sealer{Box: box}, newStore(t)
	now := time.Now().UTC()
	d := sealer.Seal(schemas.Delivery{ID: schemas.NewID(), Kind: "test", Body: []byte("code 123456"), CreatedAt: now, ExpiresAt: now.Add(time.Hour)})
	if bytes.Contains(d.Body, []byte("123456")) {
		t.Errorf("the body is kept as %q", d.Body)
	}
	forged := d
	forged.ID = schemas.NewID()
	put(t, s, d)
	put(t, s, forged)
	got := make(chan string, 2)
	start(t, delivery.Queue{}, s, sealer.OpenSender(delivery.SenderFunc(func(_ context.Context, d schemas.Delivery) error {
		got <- string(d.Body)
		return nil
	})))
	eventually(t, func() bool { return left(t, s) == 0 })
	if text := <-got; text != "code 123456" || len(got) != 0 {
		t.Errorf("%q and %d others were sent, expected the code alone", text, len(got))
	}
	if given := events(t, s); len(given) != 1 || given[0].Resource.ID != forged.ID {
		t.Errorf("the events are %+v, expected that %s was given up", given, forged.ID)
	}
}

func TestBackoff(t *testing.T) {
	for attempts, longest := range map[int]time.Duration{0: 5 * time.Second, 1: 5 * time.Second, 2: 10 * time.Second, 5: 80 * time.Second, 10: 2560 * time.Second, 11: time.Hour, 1000: time.Hour} {
		for range 100 {
			if pause := delivery.Backoff(attempts); pause > longest || pause <= longest/2-1 {
				t.Errorf("after %d attempts it waits %s, expected over a half of %s", attempts, pause, longest)
			}
		}
	}
}
