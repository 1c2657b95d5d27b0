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
	at := KeyOf("account " + account)
	count = r.count(FromContext(ctx).Near.with(at))
	ofAccount, ofAll := r.count(at), r.count(KeyOf("all"))
	record = powerOfTwo(count) && (ofAccount <= freePerAccount || powerOfTwo(ofAccount)) &&
		(ofAll <= freeTotal || ofAccount == 1 || powerOfTwo(ofAll))
	return record, count
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
	case "attempt.failed", "passkey.refused", "identity.refused", "http_request.failed", "flow.failed", "client.refused", "request.refused", "authorization.refused":
		return true
	}
	return false
}

// Thin returns changes without the events that Record rejects. It adds the detail
// "repeated" to the others: the number of failures of the network at the account within the
// hour, if greater than one.
func (r *Repeats) Thin(ctx context.Context, changes []schemas.Change) []schemas.Change {
	if r == nil {
		return changes
	}
	var kept []schemas.Change
	for _, change := range changes {
		e, ok := change.(schemas.RecordEvent)
		if !ok || !repeatable(e.Event.Action) {
			kept = append(kept, change)
			continue
		}
		account := e.Event.Action + " " + e.Event.UserID
		if e.Event.UserID == "" { // an unknown name; counted by application, actor and missing permission
			account += " " + e.Event.ApplicationID + " " + e.Event.Actor.ID + " " + e.Event.Detail["permission"]
		}
		record, count := r.Record(ctx, account)
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
