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
// sign-ins do not wait for each other to count. The counts are about a second behind the log.
const (
	countEvents = `INSERT INTO event_counts (at, action, reason, n) VALUES `
	addToCounts = ` ON CONFLICT (at, action, reason) DO UPDATE SET n = event_counts.n + excluded.n`

	// A step begins at the first parameter, or a multiple of the step later.
	selectEventCounts = `SELECT at - (at - ?) % ?, action, reason, SUM(n) FROM event_counts WHERE at >= ? AND at < ?
		GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`

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

// count adds events to the counts.
func (t *Tx) count(events []schemas.Event) error {
	counts := map[countKey]int{}
	for i := range events {
		e := &events[i]
		counts[countKey{toMicros(e.At.Truncate(countHour)), e.Action, schemas.CountedReason(e)}] += weight(e)
	}
	var args []any
	for _, k := range slices.SortedFunc(maps.Keys(counts), countKey.compare) {
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
// on until before to. The counts have a resolution of an hour. The cost follows from the number of hours, not of
// events.
func (s *Store) EventCounts(ctx context.Context, from, to time.Time, step time.Duration) ([]schemas.EventCount, error) {
	scan := func(row scanner, c *schemas.EventCount) error {
		return row.Scan((*microTime)(&c.At), &c.Action, &c.Reason, &c.Count)
	}
	return readAll(ctx, s, scan, selectEventCounts, toMicros(from), step.Microseconds(), toMicros(from), toMicros(to))
}
