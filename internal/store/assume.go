package store

import (
	"context"
	"database/sql"
	"errors"
)

// Assuming that a client has not changed
//
// A request to PostgreSQL that writes need not read the revision of its client first: it assumes the one
// that this process has read last, and its write is on the condition that this is still the current one. If it
// is not, nothing is written, and the caller repeats the request without the assumption. A request that has not
// written calls Confirm before it answers. So no reply depends on an application that has changed, and most
// requests take one round trip less.

// maxRevisions is how many revisions are kept.
const maxRevisions = 4096

// selectUnchanged returns a row if an application has a revision.
const selectUnchanged = `SELECT 1 FROM applications a WHERE id = ? AND client_id = ? AND updated_at = ?
	AND COALESCE((SELECT active_version FROM flows WHERE flows.id = a.auth_flow_id), 0) = ?
	AND COALESCE((SELECT active_version FROM flows WHERE flows.id = a.registration_flow_id), 0) = ?`

// errChanged is the error of a write that assumed an outdated revision.
var errChanged = errors.New("store: the application has just been changed; send the request again")

// Assume returns the context of a request that reads ahead and assumes the revision of the first client that it
// reads. The caller must call Confirm before it answers. On SQLite it returns ctx.
func (s *Store) Assume(ctx context.Context) context.Context {
	return s.readAhead(ctx, &ahead{assumes: true})
}

// Confirm reports whether what a request assumed is true. It reads nothing if a write of the
// request has depended on it, or if the request assumed nothing.
func (s *Store) Confirm(ctx context.Context) (bool, error) {
	assumed := aheadOf(ctx).assumption()
	if assumed == nil {
		return true, nil
	}
	err := s.row(ctx, selectUnchanged, assumed.key()...).Scan(new(int))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		aheadOf(ctx).confirm()
	}
	return err == nil, err
}

// key returns the parameters of selectUnchanged.
func (r *revision) key() []any {
	return []any{r.id, r.clientID, toMicros(r.updated), r.signIn.Int64, r.registration.Int64}
}

// assume returns the last known revision of a client if the request may assume it. A request assumes once.
func (s *Store) assume(a *ahead, clientID string) (r revision, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.assumes {
		return r, false
	}
	a.assumes = false
	if r, known = s.revisions.Find(clientID); known {
		a.assumed, a.application = &r, r
	}
	return r, known
}

// assumption returns what the request assumes and no write has confirmed; nil for nothing.
func (a *ahead) assumption() *revision {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.assumed
}

// confirm records that a write has depended on the assumption.
func (a *ahead) confirm() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.assumed = nil
}

// onAssumption makes a write depend on what its request assumes.
func onAssumption(assumed *revision, do func(*Tx) error) func(*Tx) error {
	if assumed == nil {
		return do
	}
	return func(t *Tx) error {
		if t.inBatch() {
			if err := t.batch.require(selectUnchanged, assumed.key()...); err != nil {
				return err
			}
			return do(t)
		}
		unchanged, err := exists(t.ctx, t, selectUnchanged, assumed.key()...)
		if err == nil && !unchanged {
			err = errChanged
		}
		if err != nil {
			return err
		}
		return do(t)
	}
}
