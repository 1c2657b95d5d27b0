package store

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Reading ahead
//
// A request to a distant database reads some rows together with those that it needs next: a run with
// the revision of its application, a passkey with its user. The later read takes them from the
// context of the request, which saves a round trip. They are as old as the request at most, and
// writes of the request discard them.

// ahead is what a request has read ahead.
type ahead struct {
	mu          sync.Mutex
	application revision
	user        *schemas.User // is used once
}

// revision identifies the state of an application.
type revision struct {
	id, clientID string
	updated      time.Time
	signIn       sql.NullInt64 // the active versions of its flows
	registration sql.NullInt64
}

const (
	selectRunAhead         = `SELECT q.*, ` + revisionAhead + ` FROM (` + selectRun + `) AS q` + joinRevision
	selectAuthRequestAhead = `SELECT q.*, ` + revisionAhead + ` FROM (` + selectAuthRequest + `) AS q` + joinRevision
	selectCredentialAhead  = `SELECT q.*, ` + userColumns + ` FROM (` + selectCredential + `) AS q JOIN users u ON u.id = q.user_id`

	revisionAhead = `a.id, a.client_id, a.updated_at, (SELECT active_version FROM flows WHERE flows.id = a.auth_flow_id),
		(SELECT active_version FROM flows WHERE flows.id = a.registration_flow_id)`
	joinRevision = ` LEFT JOIN applications a ON a.id = q.application_id`
)

// destinations returns where the columns of revisionAhead are scanned to.
func (r *revision) destinations() []any {
	return []any{(*nullText)(&r.id), (*nullText)(&r.clientID), (*nullTime)(&r.updated), &r.signIn, &r.registration}
}

type aheadKey struct{}

// ReadAhead returns the context of a request in which the store reads ahead. A request to SQLite does
// not: there a query takes as long as reading ahead.
func (s *Store) ReadAhead(ctx context.Context) context.Context {
	if s.local {
		return ctx
	}
	return context.WithValue(ctx, aheadKey{}, new(ahead))
}

// aheadOf returns what the request of a context has read ahead; nil if it does not.
func aheadOf(ctx context.Context) *ahead {
	a, _ := ctx.Value(aheadKey{}).(*ahead)
	return a
}

// readWithApplication reads a row by its id, in a request that reads ahead together with the revision of
// its application.
func readWithApplication[T any](ctx context.Context, s *Store, q, further, id string, destinations func(*T) []any, notFound func() error) (*T, error) {
	kept := aheadOf(ctx)
	if kept == nil {
		return readOne(s.row(ctx, q, id), func(row scanner, v *T) error { return row.Scan(destinations(v)...) }, notFound)
	}
	var of revision
	v, err := readOne(s.row(ctx, further, id), func(row scanner, v *T) error {
		return row.Scan(append(destinations(v), of.destinations()...)...)
	}, notFound)
	if err == nil {
		kept.putApplication(of)
	}
	return v, err
}

// readWithUser is readWithApplication for a passkey and its user.
func (a *ahead) readWithUser(row scanner) (*schemas.Credential, error) {
	u := new(schemas.User)
	c, err := readOne(row, func(row scanner, c *schemas.Credential) error {
		return row.Scan(append(credentialDestinations(c), userDestinations(u)...)...)
	}, errNoCredential)
	if err == nil {
		a.putUser(u)
	}
	return c, err
}

// discard is called before a write.
func (a *ahead) discard() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.application, a.user = revision{}, nil
}

func (a *ahead) putApplication(r revision) {
	if a == nil || r.id == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.application = r
}

// takeApplication returns the revision of an application for which matches returns true.
func (a *ahead) takeApplication(matches func(revision) bool) (r revision, found bool) {
	if a == nil {
		return r, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.application, a.application.id != "" && matches(a.application)
}

func (a *ahead) putUser(u *schemas.User) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.user = u
}

// takeUser returns the user with an id, nil for none, and discards it.
func (a *ahead) takeUser(id string) *schemas.User {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.user
	if a.user = nil; u == nil || u.ID != id {
		return nil
	}
	return u
}
