package server

import (
	"math"
	"strings"
	"sync"
	"time"

	"github.com/postern-id/postern/server/oauth"
)

// latencyStatistics describes how long this instance took for the requests of sign-ins in the last
// hour, in milliseconds: the duration that half of them, 95 % and 99 % did not exceed, at most 19 %
// too high. All are 0 without requests.
type latencyStatistics struct {
	Requests int     `json:"requests"`
	P50      float64 `json:"p50"`
	P95      float64 `json:"p95"`
	P99      float64 `json:"p99"`
}

// Durations are counted in buckets, whose ends grow by the factor 2^(1/4),
// from 0.1 ms to about 100 s. A slot has the counts of five minutes.
const (
	latencyBuckets = 80
	latencySlots   = 12
	latencySlot    = 5 * time.Minute
	latencyUnit    = 100 * time.Microsecond
)

// latencies counts the durations of requests of the last hour. Its memory is constant.
type latencies struct {
	mu    sync.Mutex
	slots [latencySlots]struct {
		number int64 // of the five minutes since 1970
		counts [latencyBuckets]int
	}
}

// isSignIn reports whether users wait for requests of a route while they sign in.
func isSignIn(route string) bool {
	return route == "/flow/execute" || strings.HasPrefix(route, "/auth/") || strings.HasPrefix(route, oauth.AuthorizePath) ||
		route == oauth.TokenPath || route == oauth.CallbackPath
}

func (l *latencies) add(now time.Time, took time.Duration) {
	bucket := 0
	if took > latencyUnit {
		bucket = min(int(math.Ceil(4*math.Log2(float64(took)/float64(latencyUnit)))), latencyBuckets-1)
	}
	number := now.Unix() / int64(latencySlot.Seconds())
	l.mu.Lock()
	defer l.mu.Unlock()
	slot := &l.slots[number%latencySlots]
	if slot.number != number {
		slot.number, slot.counts = number, [latencyBuckets]int{}
	}
	slot.counts[bucket]++
}

// read summarizes the last hour.
func (l *latencies) read(now time.Time) (s latencyStatistics) {
	var sums [latencyBuckets]int
	newest := now.Unix() / int64(latencySlot.Seconds())
	l.mu.Lock()
	for _, slot := range l.slots {
		if slot.number <= newest-latencySlots {
			continue
		}
		for i, n := range slot.counts {
			sums[i] += n
			s.Requests += n
		}
	}
	l.mu.Unlock()
	s.P50, s.P95, s.P99 = quantile(sums, s.Requests, .5), quantile(sums, s.Requests, .95), quantile(sums, s.Requests, .99)
	return s
}

// quantile returns the end of the bucket that has a share of all durations, in milliseconds.
func quantile(counts [latencyBuckets]int, total int, share float64) float64 {
	rest := int(math.Ceil(float64(total) * share))
	for i, n := range counts {
		if rest -= n; n > 0 && rest <= 0 {
			end := math.Pow(2, float64(i)/4) * float64(latencyUnit) / float64(time.Millisecond)
			return math.Round(end*10) / 10
		}
	}
	return 0
}
