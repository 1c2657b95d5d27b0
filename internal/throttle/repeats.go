package throttle

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Repeats decides which of many similar failures get an audit event, so that endless
// failures do not fill the audit log. Within each hour it records the first failure of a
// network at an account, and then every one whose number is a power of two: 1,024 guesses
// produce eleven events, and the last one reports 1,024. After 1,000 failures at one
// account from any networks, and after 20,000 in all, the same rule applies to the account
// and to the total. The first failure at each account is always recorded.
//
// Memory is bounded; failures beyond it are counted together. A nil Repeats records
// everything. Methods are safe for concurrent use.
type Repeats struct {
	now func() time.Time

	mu     sync.Mutex
	since  time.Time
	counts map[Key]int
}

const (
	repeatsPeriod  = time.Hour
	repeatsKeys    = 1 << 16
	freePerAccount = 1000
	freeTotal      = 20000
)

func NewRepeats(now func() time.Time) *Repeats {
	return &Repeats{now: now, since: now(), counts: map[Key]int{}}
}

// Record reports whether to record a failure, and how many failures the network of ctx (see
// NewContext) has had at the account within the hour, including this one.
func (r *Repeats) Record(ctx context.Context, account string) (record bool, count int) {
	if r == nil {
		return true, 1
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.now(); now.Sub(r.since) >= repeatsPeriod {
		r.since, r.counts = now, map[Key]int{}
	}
	keys := keysOf(ctx, account)
	count = r.count(keys[0])
	ofAccount, ofAll := r.count(keys[1]), r.count(keys[2])
	record = powerOfTwo(count) && (ofAccount <= freePerAccount || powerOfTwo(ofAccount)) &&
		(ofAll <= freeTotal || ofAccount == 1 || powerOfTwo(ofAll))
	return record, count
}

// keysOf returns the keys of a failure: of the network at the account, of the account, and of all.
func keysOf(ctx context.Context, account string) [3]Key {
	at := KeyOf("account " + account)
	return [3]Key{FromContext(ctx).Near.with(at), at, KeyOf("all")}
}

// forget is the inverse of Record, for a failure that was not stored.
func (r *Repeats) forget(ctx context.Context, account string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range keysOf(ctx, account) {
		if _, known := r.counts[k]; !known {
			k = Key{}
		}
		if r.counts[k] > 0 { // another hour may have begun
			r.counts[k]--
		}
	}
}

// count adds one to the count of a key and returns it.
func (r *Repeats) count(k Key) int {
	if _, known := r.counts[k]; !known && len(r.counts) >= repeatsKeys {
		k = Key{}
	}
	r.counts[k]++
	return r.counts[k]
}

func powerOfTwo(n int) bool { return n&(n-1) == 0 }

// repeatable reports whether anonymous callers can cause events of the action repeatedly.
func repeatable(action string) bool {
	switch action {
	case "attempt.failed", "passkey.refused", "identity.refused", "http_request.failed", "flow.failed", "client.refused", "request.refused", "authorization.refused", "token.refused", "registration.refused":
		return true
	}
	return false
}

// Commit commits changes without the events that Record rejects. A commit that fails counts no failures:
// the request may be processed again.
func (r *Repeats) Commit(ctx context.Context, changes []schemas.Change, commit func([]schemas.Change) error) error {
	if r == nil {
		return commit(changes)
	}
	err := commit(r.thin(ctx, changes))
	if err == nil {
		return nil
	}
	for _, change := range changes {
		if e, ok := change.(schemas.RecordEvent); ok && repeatable(e.Event.Action) {
			r.forget(ctx, failingAccount(&e.Event))
		}
	}
	return err
}

// failingAccount returns what the failures of an event are counted for. Refusals of different parameters have
// different causes.
func failingAccount(e *schemas.Event) string {
	account := e.Action + " " + e.UserID
	if e.UserID == "" { // an unknown name; counted by application, actor, and missing permission or refused parameter
		account += " " + e.ApplicationID + " " + e.Actor.ID + " " + e.Detail["permission"] + " " + e.Detail["parameter"]
	}
	return account
}

// thin returns changes without the events that Record rejects. It adds the detail
// "repeated" to the others: the number of failures of the network at the account within the
// hour, if greater than one.
func (r *Repeats) thin(ctx context.Context, changes []schemas.Change) []schemas.Change {
	var kept []schemas.Change
	for _, change := range changes {
		e, ok := change.(schemas.RecordEvent)
		if !ok || !repeatable(e.Event.Action) {
			kept = append(kept, change)
			continue
		}
		record, count := r.Record(ctx, failingAccount(&e.Event))
		if !record {
			continue
		}
		if count > 1 {
			e.Event.Detail = maps.Clone(e.Event.Detail)
			if e.Event.Detail == nil {
				e.Event.Detail = map[string]string{}
			}
			e.Event.Detail["repeated"] = strconv.Itoa(count)
		}
		kept = append(kept, e)
	}
	return kept
}
