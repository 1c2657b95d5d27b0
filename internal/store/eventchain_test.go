package store_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

func TestSQLiteEventChain(t *testing.T) {
	storetest.EventChain(t, func(t *testing.T) (store.Config, func() (*sql.DB, error)) {
		c := file(t)
		return c, func() (*sql.DB, error) { return sql.Open("sqlite", c.DSN) }
	})
}

func TestPostgresEventChain(t *testing.T) {
	storetest.EventChain(t, func(t *testing.T) (store.Config, func() (*sql.DB, error)) {
		c := postgres(t)
		return c, func() (*sql.DB, error) { return sql.Open("postgres", c.DSN) }
	})
}

// BenchmarkRecordEvent records events from many callers at once, each in a transaction, while
// another goroutine seals them.
func BenchmarkRecordEvent(b *testing.B) {
	for driver, open := range map[string]func(testing.TB) store.Config{"sqlite": file, "postgres": postgres} {
		for name, seal := range map[string]bool{"sealed": true, "unsealed": false} {
			b.Run(driver+"/"+name, func(b *testing.B) {
				s := storetest.Open(b, open(b))
				stop, done := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(done)
					sealUntil(b, s, seal, stop)
				}()
				b.SetParallelism(16)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						e := schemas.Event{At: time.Now(), Action: "user.signed_in", UserID: "u"}
						if err := s.Apply(b.Context(), []schemas.Change{schemas.RecordEvent{Event: e}}); err != nil {
							b.Error(err)
						}
					}
				})
				close(stop)
				<-done
			})
		}
	}
}

// sealUntil seals every 100 ms, if at all, until stop is closed.
func sealUntil(b *testing.B, s *store.Store, seal bool, stop <-chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if seal {
			if _, err := s.EventChain(make([]byte, 32)).Seal(b.Context()); err != nil {
				b.Error(err)
			}
		}
	}
}

// BenchmarkEventCounts counts the events of a year by the day: 20 kinds of them in each hour.
func BenchmarkEventCounts(b *testing.B) {
	s := benchStore(b, file(b))
	from := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	const hours = 365 * 24
	for at := range hours {
		var changes []schemas.Change
		for kind := range 20 {
			changes = append(changes, schemas.RecordEvent{Event: schemas.Event{At: from.Add(time.Duration(at) * time.Hour), Action: fmt.Sprint("kind", kind)}})
		}
		if err := s.Apply(b.Context(), changes); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := s.EventChain(make([]byte, 32)).Seal(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		counts, err := s.EventCounts(b.Context(), from, from.Add(hours*time.Hour), 24*time.Hour)
		if err != nil || len(counts) != 365*20 {
			b.Fatal(len(counts), err)
		}
	}
}

// BenchmarkSeal seals a backlog of events, in a database whose statistics describe an empty one. The cost of an
// event must not depend on the size of the backlog.
func BenchmarkSeal(b *testing.B) {
	for driver, open := range map[string]func(testing.TB) store.Config{"sqlite": file, "postgres": postgres} {
		for _, backlog := range []int{10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", driver, backlog), func(b *testing.B) {
				c := open(b)
				s := storetest.Open(b, c)
				for b.Loop() {
					b.StopTimer()
					recordBacklog(b, c, backlog)
					b.StartTimer()
					if n, err := s.EventChain(make([]byte, 32)).Seal(b.Context()); err != nil || n != backlog {
						b.Fatal(n, err)
					}
				}
				b.ReportMetric(float64(backlog*b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// BenchmarkVerify verifies a log in a database whose statistics describe an empty one.
func BenchmarkVerify(b *testing.B) {
	const events = 100_000
	for driver, open := range map[string]func(testing.TB) store.Config{"sqlite": file, "postgres": postgres} {
		b.Run(driver, func(b *testing.B) {
			c := open(b)
			s := storetest.Open(b, c)
			chain := s.EventChain(make([]byte, 32))
			recordBacklog(b, c, events)
			if _, err := chain.Seal(b.Context()); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if r, err := chain.Verify(b.Context(), nil); err != nil || r.Fault != nil || r.Events != events {
					b.Fatal(r, err)
				}
			}
			b.ReportMetric(float64(events*b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// recordBacklog adds events with the members of a sign-in to the log and to the queue.
func recordBacklog(b testing.TB, c store.Config, n int) {
	b.Helper()
	db, err := sql.Open(c.Driver, c.DSN)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	id := map[string]string{"sqlite": "lower(hex(randomblob(18)))", "postgres": "CAST(gen_random_uuid() AS TEXT)"}[c.Driver]
	_, err = db.Exec(fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO events (at, id, action, user_id, application_id, execution_id, trace_id, detail, actor_type, actor_id, address, user_agent, session_id)
		SELECT %d + i / 3, %s, 'user.signed_in', 'u', 'a', 'e', 't', '{"acr":"phr","client":"c"}', 'user', 'u', '192.0.2.1', 'Browser/1.0', 's' FROM n`,
		n, time.Now().UnixMicro(), id))
	if err != nil {
		b.Fatal(err)
	}
}
