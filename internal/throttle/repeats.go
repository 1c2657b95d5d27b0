package throttle

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Repeats decides which of many alike failures are worth an event of their own, so that
// whoever fails for ever does not fill the audit log. Within each hour the first failure
// of a network at an account is recorded, and then those whose number is a power of two:
// 1,024 guesses are eleven events, of which the last says 1,024. Beyond a thousand at one
// account, from however many networks, and beyond twenty thousand in all, the same goes
// for the account and for all of them; the first at each account is recorded still.
//
// It counts in memory of a bounded size; failures for which there is no place are counted
// together. A nil Repeats records everything. Methods may be called by any number of
// goroutines.
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
	freeInAll      = 20000
)

// NewRepeats makes a Repeats.
func NewRepeats(now func() time.Time) *Repeats {
	return &Repeats{now: now, since: now(), counts: map[Key]int{}}
}

// Record reports whether a failure is to be recorded, and how many of the network that
// ctx came from (see NewContext) there were at the account within the hour, this one
// among them.
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
		(ofAll <= freeInAll || ofAccount == 1 || powerOfTwo(ofAll))
	return record, count
}

// count counts one more for a key.
func (r *Repeats) count(k Key) int {
	if _, known := r.counts[k]; !known && len(r.counts) >= repeatsKeys {
		k = Key{}
	}
	r.counts[k]++
	return r.counts[k]
}

func powerOfTwo(n int) bool { return n&(n-1) == 0 }

// repeatable are the actions of events that anybody can cause over and over.
func repeatable(action string) bool {
	switch action {
	case "attempt.failed", "passkey.refused", "identity.refused", "http_request.failed":
		return true
	}
	return false
}

// Thin returns changes without the events that are not to be recorded. Of those that are
// the detail "repeated" says how many there were of the network at the account within
// the hour, if that is more than one.
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
		if e.Event.UserID == "" { // a name that nobody has: those of one application together
			account += " " + e.Event.ApplicationID
		}
		record, count := r.Record(ctx, account)
		if !record {
			continue
		}
		kept = append(kept, schemas.RecordEvent{Event: repeated(e.Event, count)})
	}
	return kept
}

func repeated(e schemas.Event, count int) schemas.Event {
	if count == 1 {
		return e
	}
	detail := maps.Clone(e.Detail)
	if detail == nil {
		detail = map[string]string{}
	}
	detail["repeated"] = strconv.Itoa(count)
	e.Detail = detail
	return e
}
