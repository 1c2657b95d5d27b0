package directory

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// timedWrites measures the longest transaction since it was read.
type timedWrites struct {
	countedStatements
	mu      sync.Mutex
	longest time.Duration
}

func (w *timedWrites) Write(_ context.Context, commit func() error) error {
	began := time.Now()
	err := commit()
	w.mu.Lock()
	w.longest = max(w.longest, time.Since(began))
	w.mu.Unlock()
	return err
}

func (w *timedWrites) take() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	longest := w.longest
	w.longest = 0
	return longest
}

// BenchmarkStoreApplication stores an application among 10 and 10,000 others. It
// reports the duration of its longest transaction, and the 99th percentile of the small writes that
// sign-ins make at the same time.
func BenchmarkStoreApplication(b *testing.B) {
	for _, driver := range []string{"sqlite", "postgres"} {
		for _, others := range []int{10, 10_000} {
			b.Run(fmt.Sprint(driver, "/", others), func(b *testing.B) {
				dsn := filepath.Join(b.TempDir(), "store.db")
				if driver == "postgres" {
					dsn = storetest.EmptyPostgres(b)
				}
				timed := new(timedWrites)
				s := storetest.OpenEmpty(b, store.Config{Driver: driver, DSN: dsn, Hooks: timed})
				kinds := nodes.Kinds(nodes.Deps{})
				w := &fixture{store: s, Directory: New(Options{
					Store: s, Hasher: plainHasher{}, DigestKey: make([]byte, 32), Box: plainCipher{}, CheckChains: (&chains.Checker{Kinds: kinds}).NewWays,
					CheckFlow: func(text []byte, yaml bool, subflows schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
						flow, _, problems := engine.CheckUsing(text, yaml, kinds, subflows)
						return flow, problems
					},
				})}
				w.furnish(b)
				signUp := w.create(b, w.Flows, signUpFlow)
				flow := w.create(b, w.Flows, `{"handle": "sign-in", "name": "One", "flowType": "AUTHENTICATION", "nodes": `+passkeyNodes+`}`)
				must(b, s.Update(b.Context(), func(tx *store.Tx) error {
					for i := range others {
						now := w.now()
						a := &schemas.Application{ID: schemas.NewID(), Name: fmt.Sprint("Other ", i), OUID: w.unit, AuthFlowID: flow, RegistrationFlowID: signUp, CreatedAt: now, UpdatedAt: now}
						if err := store.Applications().Insert(tx, a); err != nil {
							return err
						}
					}
					return nil
				}))
				quiet := smallWrites(b, s, func() { time.Sleep(time.Second) })
				timed.take()
				n, longest := 0, time.Duration(0)
				busy := smallWrites(b, s, func() {
					for b.Loop() {
						n++
						w.create(b, w.Applications, object(b, "name", fmt.Sprint("New ", n), "authFlowId", flow))
						longest = max(longest, timed.take())
					}
				})
				b.ReportMetric(float64(longest.Microseconds())/1000, "longest-tx-ms")
				b.ReportMetric(float64(quiet.Microseconds())/1000, "quiet-p99-ms")
				b.ReportMetric(float64(busy.Microseconds())/1000, "busy-p99-ms")
			})
		}
	}
}

// smallWrites writes like sign-ins until do returns, and returns the 99th percentile of the durations.
func smallWrites(b *testing.B, s *store.Store, do func()) time.Duration {
	ctx, end := context.WithCancel(b.Context())
	var took []time.Duration
	var writer sync.WaitGroup
	writer.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			e := schemas.Event{ID: schemas.NewID(), At: began, Action: "signin.succeeded", Actor: schemas.Actor{Type: schemas.SystemActor}}
			if err := s.Apply(ctx, []schemas.Change{schemas.RecordEvent{Event: e}}); err == nil {
				took = append(took, time.Since(began))
			}
			time.Sleep(2 * time.Millisecond)
		}
	})
	do()
	end()
	writer.Wait()
	slices.Sort(took)
	return took[len(took)*99/100]
}
