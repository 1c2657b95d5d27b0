package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// databases are what is measured. PostgreSQL is started for it, or the one that
// the environment names is used.
func databases() map[string]func(testing.TB) store.Config {
	return map[string]func(testing.TB) store.Config{"sqlite": file, "postgres": postgres}
}

func benchStore(b *testing.B, c store.Config) *store.Store {
	b.Helper()
	s, err := store.Open(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	unit := schemas.OrganizationUnit{ID: home, Handle: "home"}
	person := schemas.UserType{ID: schemas.NewID(), Name: "Person", OUID: home, Schema: json.RawMessage("{}")}
	err = s.Update(b.Context(), func(tx *store.Tx) error {
		if err := store.Units().Insert(tx, &unit); err != nil {
			return err
		}
		return store.UserTypes().Insert(tx, &person)
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// home is the id of the organization unit of all who are measured.
const home = "01900000-0000-7000-8000-0000000000aa"

// signIn is a store with a user who has a passkey.
type signIn struct {
	*store.Store
	user       string
	credential schemas.Bytes
}

func newSignIn(b *testing.B, s *store.Store) *signIn {
	b.Helper()
	u := schemas.User{ID: schemas.NewID(), Type: "Person", OUID: home, Attributes: map[string]any{"username": schemas.NewID()}}
	key := schemas.Credential{ID: schemas.Bytes(schemas.NewID()), UserID: u.ID, Name: "key", PublicKey: make([]byte, 77), Algorithm: -7}
	if err := s.Apply(b.Context(), []schemas.Change{schemas.CreateUser{User: u}, schemas.CreateCredential{Credential: key}}); err != nil {
		b.Fatal(err)
	}
	return &signIn{s, u.ID, key.ID}
}

func (s *signIn) run() *schemas.Run {
	now := time.Now()
	return &schemas.Run{ID: schemas.NewID(), Revision: 1, Status: schemas.Incomplete, FlowID: schemas.NewID(), FlowVersion: 1,
		ApplicationID: schemas.NewID(), Node: "key", State: json.RawMessage(`{"keep":"` + strings.Repeat("x", 1000) + `"}`),
		CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(time.Hour)}
}

// finish is what the step that ends a sign-in writes.
func (s *signIn) finish(run *schemas.Run) []schemas.Change {
	proofs := []schemas.Proof{{Kind: schemas.PasskeyProof, Of: s.credential.String()}}
	session := schemas.Session{ID: schemas.NewID(), UserID: s.user, ApplicationID: run.ApplicationID, AMR: []string{"swk", "pop"},
		ACR: schemas.ACRPhishingResistant, Client: "bench", CreatedAt: run.UpdatedAt, ExpiresAt: run.ExpiresAt, Proofs: proofs}
	event := func(action string, detail map[string]string) schemas.Change {
		return schemas.RecordEvent{Event: schemas.Event{ID: schemas.NewID(), At: run.UpdatedAt, Action: action, UserID: s.user,
			ApplicationID: run.ApplicationID, ExecutionDigest: run.Digest(), Detail: detail}}
	}
	return []schemas.Change{
		schemas.UseCredential{ID: s.credential, SignCount: 1, At: run.UpdatedAt},
		event("passkey.used", map[string]string{"credentialId": proofs[0].Of}),
		schemas.StartSession{Session: session},
		event("user.signed_in", map[string]string{"acr": session.ACR, "sessionId": session.ID}),
		schemas.RequireProofs{UserID: s.user, Proofs: proofs, At: run.UpdatedAt},
	}
}

// BenchmarkLastStep commits the step that ends a sign-in, nothing else: the least that the step of a flow costs
// with this store.
func BenchmarkLastStep(b *testing.B) {
	for name, where := range databases() {
		b.Run(name, func(b *testing.B) {
			s := newSignIn(b, benchStore(b, where(b)))
			runs := make(chan *schemas.Run, b.N)
			begin := func() error {
				run := s.run()
				err := s.Commit(b.Context(), run, nil)
				run.Revision, run.Status, run.UserID, run.State = 2, schemas.Complete, s.user, nil
				runs <- run
				return err
			}
			parallel(b, 64, func() func() error { return begin })
			before := processorTime(b)
			b.StartTimer()
			parallel(b, 64, func() func() error {
				return func() error {
					run := <-runs
					return s.Commit(b.Context(), run, s.finish(run))
				}
			})
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs")
		})
	}
}

// processorTime is that of this process. PostgreSQL is another one.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkStep commits the next step of a run, the state replaced, nothing else
// changed: each caller has a run of its own.
func BenchmarkStep(b *testing.B) {
	for name, where := range databases() {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", name, callers), func(b *testing.B) {
				s := newSignIn(b, benchStore(b, where(b)))
				parallel(b, callers, func() func() error {
					run := s.run()
					if err := s.Commit(b.Context(), run, nil); err != nil {
						b.Fatal(err)
					}
					return func() error {
						run.Revision++
						return s.Commit(b.Context(), run, nil)
					}
				})
			})
		}
	}
}

// BenchmarkSignIn does all that a passkey sign-in asks of a store: the run is
// begun, read, and ended, with the passkey looked up, its use and an event
// recorded.
func BenchmarkSignIn(b *testing.B) {
	for name, where := range databases() {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", name, callers), func(b *testing.B) {
				opened := benchStore(b, where(b))
				parallel(b, callers, func() func() error {
					s := newSignIn(b, opened) // one passkey for all would be one row that all wait for
					return func() error { return s.once(b) }
				})
			})
		}
	}
}

func (s *signIn) once(b *testing.B) error {
	began := s.run()
	if err := s.Commit(b.Context(), began, nil); err != nil {
		return err
	}
	run, err := s.Run(b.Context(), began.ID)
	if err != nil {
		return err
	}
	if _, err := s.Credential(b.Context(), s.credential); err != nil {
		return err
	}
	run.Revision++
	run.Status, run.UserID, run.State = schemas.Complete, s.user, nil
	return s.Commit(b.Context(), run, s.finish(run))
}

// BenchmarkRun reads one run among many.
func BenchmarkRun(b *testing.B) {
	for name, where := range databases() {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", name, callers), func(b *testing.B) {
				s := newSignIn(b, benchStore(b, where(b)))
				run := s.run()
				for range 1000 {
					run = s.run()
					if err := s.Commit(b.Context(), run, nil); err != nil {
						b.Fatal(err)
					}
				}
				parallel(b, callers, func() func() error {
					return func() error {
						_, err := s.Run(b.Context(), run.ID)
						return err
					}
				})
			})
		}
	}
}

// parallel shares b.N calls among callers. Each caller calls the function that its own
// call of prepare returned.
func parallel(b *testing.B, callers int, prepare func() func() error) {
	b.Helper()
	calls := make([]func() error, callers)
	for i := range calls {
		calls[i] = prepare()
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	var done sync.WaitGroup
	for _, call := range calls {
		done.Go(func() {
			for left.Add(-1) >= 0 {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	done.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
