package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// The sealer counts events: it has each of them once, and one instance at a time seals, so that
// sign-ins do not wait for each other to count. A read adds the events that have no seal yet.
const (
	countEvents = `INSERT INTO event_counts (at, action, reason, n) VALUES `
	addToCounts = ` ON CONFLICT (at, action, reason) DO UPDATE SET n = event_counts.n + excluded.n`

	// A step begins at the first parameter, or a multiple of the step later.
	selectEventCounts = `SELECT at - (at - ?) % ?, action, reason, SUM(n) FROM event_counts WHERE at >= ? AND at < ?
		GROUP BY 1, 2, 3`

	selectUncounted = `SELECT ` + eventColumns + ` FROM (SELECT at AS k_at, id AS k_id FROM unsealed_events
		WHERE at >= ? AND at < ? ORDER BY at, id LIMIT ?) k` + eventOfKey

	// maxUncounted limits the work of a read while no instance seals: the events after that many are
	// missing from the counts until they are sealed.
	maxUncounted = 5000

	deleteOldCounts = `DELETE FROM event_counts WHERE at < ? AND (at, action, reason) IN
		(SELECT at, action, reason FROM event_counts WHERE at < ? ORDER BY at LIMIT ?)`

	selectQueue = `SELECT kind, COUNT(*), SUM(CASE WHEN attempts > 0 THEN 1 ELSE 0 END), MIN(created_at) FROM deliveries GROUP BY kind ORDER BY kind`
)

// countHour is the resolution of the counts.
const countHour = time.Hour

type countKey struct {
	at             int64 // of the hour, in microseconds
	action, reason string
}

func (k countKey) compare(o countKey) int {
	return cmp.Or(cmp.Compare(k.at, o.at), cmp.Compare(k.action, o.action), cmp.Compare(k.reason, o.reason))
}

// eventCounts are numbers of events.
type eventCounts map[countKey]int

// add counts events in the steps that begin at from, in microseconds, or a multiple of step later.
func (c eventCounts) add(events []schemas.Event, from int64, step time.Duration) {
	for i := range events {
		e := &events[i]
		at := toMicros(e.At)
		c[countKey{at - (at-from)%step.Microseconds(), e.Action, schemas.CountedReason(e)}] += weight(e)
	}
}

func (c eventCounts) keys() []countKey {
	return slices.SortedFunc(maps.Keys(c), countKey.compare)
}

// count adds events to the counts.
func (t *Tx) count(events []schemas.Event) error {
	counts := eventCounts{}
	counts.add(events, 0, countHour)
	var args []any
	for _, k := range counts.keys() {
		args = append(args, k.at, k.action, k.reason, counts[k])
	}
	values := strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?), ", len(counts)), ", ")
	_, err := t.exec(countEvents+values+addToCounts, args...)
	return err
}

// weight returns how many failures an event stands for. Of repeated failures only those whose
// number is a power of two are recorded (throttle.Repeats), so the event stands for those since
// half of that number.
func weight(e *schemas.Event) int {
	if n, err := strconv.Atoi(e.Detail["repeated"]); err == nil && n > 1 {
		return n - n/2
	}
	return 1
}

// EventCounts returns the numbers of events by step, action and reason, for steps from a full hour
// on until before to. The counts have a resolution of an hour. The cost follows from the number of hours and
// of unsealed events, not of all events.
func (s *Store) EventCounts(ctx context.Context, from, to time.Time, step time.Duration) (list []schemas.EventCount, err error) {
	counts := eventCounts{}
	// One snapshot: an event that is sealed meanwhile is counted once.
	err = s.Snapshot(ctx, func(r Reader) error { return counts.read(ctx, r, toMicros(from), toMicros(to), step) })
	for _, k := range counts.keys() {
		list = append(list, schemas.EventCount{At: fromMicros(k.at), Action: k.action, Reason: k.reason, Count: counts[k]})
	}
	return list, err
}

// read adds the stored counts and the unsealed events.
func (c eventCounts) read(ctx context.Context, r Reader, from, to int64, step time.Duration) error {
	err := rows(ctx, r, func(row scanner) error {
		var k countKey
		var n int
		err := row.Scan(&k.at, &k.action, &k.reason, &n)
		c[k] += n
		return err
	}, selectEventCounts, from, step.Microseconds(), from, to)
	if err != nil {
		return err
	}
	unsealed, err := readAll(ctx, r, scanEvent, selectUncounted, from, to, maxUncounted)
	c.add(unsealed, from, step)
	return err
}
