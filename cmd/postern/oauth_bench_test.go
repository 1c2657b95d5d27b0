package main

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkClientCredentials is POST /oauth2/token by a client that acts on its own behalf.
// It also reports the 99th percentile of the latency.
func BenchmarkClientCredentials(b *testing.B) {
	w := newTestApp(b)
	c := w.client("system")
	var mu sync.Mutex
	times := make([]time.Duration, 0, b.N)
	measureAgainst(b, signatureCost, func(int64) {
		begin := time.Now()
		rec := w.askToken(c.ClientID, c.ClientSecret, "&scope=system")
		if rec.Code != http.StatusOK {
			b.Errorf("%d %s", rec.Code, rec.Body)
		}
		took := time.Since(begin)
		mu.Lock()
		defer mu.Unlock()
		times = append(times, took)
	})
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100])/float64(time.Millisecond), "p99-ms")
}

// BenchmarkJWKS is GET /oauth2/jwks.
func BenchmarkJWKS(b *testing.B) {
	w := newTestApp(b)
	w.measure(b, func(int64) {
		rec := w.exchange(http.MethodGet, "/oauth2/jwks", "")
		if rec.Code != http.StatusOK {
			b.Errorf("%d %s", rec.Code, rec.Body)
		}
	})
}
