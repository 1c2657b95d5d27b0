package server

import (
	"testing"
	"time"
)

func TestLatencies(t *testing.T) {
	var l latencies
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	if got := l.read(now); got != (latencyStatistics{}) {
		t.Errorf("without requests: %+v", got)
	}
	for i := range 100 {
		l.add(now.Add(time.Duration(i)*time.Second), time.Duration(i+1)*time.Millisecond)
	}
	l.add(now, 0)
	l.add(now, time.Hour)
	got := l.read(now.Add(time.Minute))
	within := func(ms, want float64) bool { return ms >= want && ms <= want*1.2 }
	if got.Requests != 102 || !within(got.P50, 50) || !within(got.P95, 96) || !within(got.P99, 99) {
		t.Errorf("got %+v", got)
	}
	if got := l.read(now.Add(2 * time.Hour)); got.Requests != 0 {
		t.Errorf("two hours later: %+v", got)
	}
	l.add(now.Add(time.Hour), time.Second) // takes a slot that has old counts
	if got := l.read(now.Add(time.Hour)); got.Requests >= 102 || got.Requests < 1 {
		t.Errorf("an hour later: %+v", got)
	}
}
