package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// homeID is the id of the organization unit of all resources in these tests.
const homeID = "01900000-0000-7000-8000-0000000000aa"

func newUnit(handle string) schemas.OrganizationUnit {
	return schemas.OrganizationUnit{ID: schemas.NewID(), Handle: handle, Name: handle, CreatedAt: noon(), UpdatedAt: noon()}
}

func newUserType(name string) schemas.UserType {
	return schemas.UserType{ID: schemas.NewID(), Name: name, OUID: homeID, Schema: json.RawMessage(`{"type":"object"}`),
		CreatedAt: noon(), UpdatedAt: noon()}
}

// corpID is the id of the identity provider of these tests.
const corpID = "01900000-0000-7000-8000-0000000000ab"

// insertFixture adds the organization unit, the user type and the identity provider of these tests,
// unless they exist.
func insertFixture(ctx context.Context, s *store.Store) error {
	home, person, corp := newUnit("home"), newUserType("Person"), newIdentityProvider("corp")
	home.ID, corp.ID = homeID, corpID
	return s.Update(ctx, func(tx *store.Tx) error {
		if found, err := store.Units().Find(ctx, tx, "handle", "home"); err != nil || found != nil {
			return err
		}
		return errors.Join(store.Units().Insert(tx, &home), store.UserTypes().Insert(tx, &person), store.IdentityProviders().Insert(tx, &corp))
	})
}

// update runs a transaction that must succeed.
func update(t testing.TB, s *store.Store, do func(*store.Tx) error) {
	t.Helper()
	must(t, s.Update(t.Context(), do))
}

// apply makes changes that must succeed.
func apply(t testing.TB, s RunStore, changes ...schemas.Change) {
	t.Helper()
	must(t, s.Apply(t.Context(), authorized(changes)))
}

// Authorized returns changes with the preconditions of those of accounts, as the program itself makes
// them.
func Authorized(changes []schemas.Change) (all []schemas.Change) {
	for _, change := range changes {
		if id := schemas.ChangedAccount(change); id != "" {
			all = append(all, schemas.RequireAuthority{UserID: id, By: schemas.Authority{Program: true}})
		}
	}
	return append(all, changes...)
}

func authorized(changes []schemas.Change) []schemas.Change { return Authorized(changes) }

// commit commits runs without changes.
func commit(t testing.TB, s RunStore, runs ...*schemas.Run) {
	t.Helper()
	for _, run := range runs {
		must(t, s.Commit(t.Context(), run, nil))
	}
}

// wantRuns fails the test unless the runs exist.
func wantRuns(t testing.TB, s RunStore, runs ...*schemas.Run) {
	t.Helper()
	for _, run := range runs {
		reply(s.Run(t.Context(), run.ID)).get(t)
	}
}

// insert adds resources in a transaction.
func insert(t testing.TB, s *store.Store, resources ...any) {
	t.Helper()
	update(t, s, func(tx *store.Tx) error {
		for _, r := range resources {
			must(t, insertResource(tx, r))
		}
		return nil
	})
}

func insertResource(tx *store.Tx, resource any) error {
	switch r := resource.(type) {
	case *schemas.OrganizationUnit:
		return store.Units().Insert(tx, r)
	case *schemas.UserType:
		return store.UserTypes().Insert(tx, r)
	case *schemas.User:
		return store.Users().Insert(tx, r)
	case *schemas.Group:
		return store.Groups().Insert(tx, r)
	case *schemas.ResourceServer:
		return store.ResourceServers().Insert(tx, r)
	case *schemas.Role:
		return store.Roles().Insert(tx, r)
	case *schemas.Application:
		return store.Applications().Insert(tx, r)
	case *schemas.Flow:
		return store.Flows().Insert(tx, r)
	default:
		return fmt.Errorf("%T is not a resource", r)
	}
}

// noon is the time of all events in these tests. It has microseconds, the precision of a store.
func noon() time.Time { return time.Date(2026, 5, 17, 12, 0, 0, 123456000, time.UTC) }

func newRun() *schemas.Run {
	return &schemas.Run{
		ID: schemas.NewID(), Revision: 1, Status: schemas.Incomplete, FlowID: schemas.NewID(), FlowVersion: 3,
		ApplicationID: schemas.NewID(), Node: "who", State: json.RawMessage(`{"z":1,  "a":"\u0000ä"}`),
		CreatedAt: noon(), UpdatedAt: noon(), ExpiresAt: noon().Add(time.Hour),
	}
}

// next returns the next revision of the run, at a node.
func next(r *schemas.Run, node string) *schemas.Run {
	n := *r
	n.Revision++
	n.Node = node
	return &n
}

func newUser(username string) schemas.User {
	attributes := map[string]any{"given_name": "Ann"}
	if username != "" {
		attributes["username"] = username
	}
	return schemas.User{ID: schemas.NewID(), Type: "Person", OUID: homeID, Attributes: attributes, Status: schemas.UserActive,
		CreatedAt: noon(), UpdatedAt: noon()}
}

// verifiedUser has a verified address.
func verifiedUser(username, email string) schemas.User {
	u := newUser(username)
	u.Attributes["email"], u.Attributes["email_verified"] = email, true
	return u
}

// weakSignIn is the provenance of samples.
func weakSignIn() schemas.Provenance {
	return schemas.Provenance{ACR: schemas.ACRVouched, Methods: []string{schemas.AMREmail, "x"}}
}

func newCredential(userID string) schemas.Credential {
	return schemas.Credential{
		ID: schemas.Bytes(schemas.NewID()), UserID: userID, Name: "Ann's key", RPID: "example.com",
		PublicKey: schemas.Bytes{0xa5, 0, 1}, Algorithm: -7, AttestationFormat: "none",
		AAGUID: "00000000-0000-0000-0000-000000000000", Attachment: "platform", Transports: []string{"internal", "hybrid"},
		SignCount: 1<<32 - 2, UserVerified: true, BackupEligible: true, BackupState: true, CreatedAt: noon(), AddedBy: weakSignIn(),
	}
}

func create(u schemas.User) []schemas.Change { return []schemas.Change{schemas.CreateUser{User: u}} }

// together calls do(0) to do(n-1) concurrently and waits for all of them.
func together(n int, do func(i int)) {
	var ready, done sync.WaitGroup
	ready.Add(n)
	gate := make(chan struct{})
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-gate
			do(i)
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
}

// oneWins calls do(0) to do(n-1) concurrently. It returns the one that succeeds; the others must
// fail with the code.
func oneWins(t *testing.T, n int, code string, do func(i int) error) (winner int) {
	t.Helper()
	won := countOf(t, n, func(i int) (bool, error) {
		err := do(i)
		if err == nil {
			winner = i
		} else if schemas.HasCode(err, code) {
			return false, nil
		}
		return err == nil, err
	})
	wantEqual(t, "the number of winners", won, 1)
	if t.Failed() {
		t.FailNow()
	}
	return winner
}

// countOf calls do(0) to do(n-1) at the same time and returns how many of them report true. None may
// fail.
func countOf(t *testing.T, n int, do func(i int) (bool, error)) int {
	t.Helper()
	return sumOf(t, n, func(i int) (int, error) {
		counts, err := do(i)
		if counts {
			return 1, err
		}
		return 0, err
	})
}

// sumOf calls do(0) to do(n-1) at the same time and returns the sum of their results. None may fail.
func sumOf(t *testing.T, n int, do func(i int) (int, error)) int {
	t.Helper()
	var sum atomic.Int64
	together(n, func(i int) {
		some, err := do(i)
		check(t, err)
		sum.Add(int64(some))
	})
	return int(sum.Load())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// check is like must, for goroutines of a test, which cannot end the test.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// wantError fails the test unless err is an Error of the class and code.
func wantError(t testing.TB, err error, class schemas.Class, code string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, expected %s", code)
	}
	if e := schemas.AsError(err); e.Code != code || e.Class != class {
		t.Fatalf("error %v of class %d, expected %s of class %d", err, e.Class, code, class)
	}
}

// wantEqual fails the test unless the two are deeply equal.
func wantEqual(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s differs:\n got %s\nwant %s", what, text(got), text(want))
	}
}

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return string(raw)
}

// result is the result of a call.
type result[T any] struct {
	value T
	err   error
}

// reply returns the result of a call.
func reply[T any](value T, err error) result[T] { return result[T]{value, err} }

// get returns the value of a call that must not fail.
func (r result[T]) get(t testing.TB) T {
	t.Helper()
	must(t, r.err)
	return r.value
}

// equals fails the test unless the call returned a value deeply equal to want.
func (r result[T]) equals(t testing.TB, what string, want T) {
	t.Helper()
	wantEqual(t, what, r.get(t), want)
}

// fails fails the test unless the call returned an Error of the class and code.
func (r result[T]) fails(t testing.TB, class schemas.Class, code string) {
	t.Helper()
	wantError(t, r.err, class, code)
}
