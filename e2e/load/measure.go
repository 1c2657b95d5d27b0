package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// result is a row of the table.
type result struct {
	driver, scenario string
	users            int
	target           float64 // milliseconds; 0 for none
	elapsed          time.Duration
	times            []time.Duration // of the units that succeeded, sorted
	failures         int
	failure          error         // one of them
	server, database time.Duration // processor time
	raw              time.Duration // of one P-256 verification and one signature
	traffic          counts
}

// run measures a scenario: each caller does one unit after another until the time is over.
func run(t *target, sc scenario, callers []*caller, duration time.Duration) (r result, err error) {
	if err := prepare(sc, callers); err != nil {
		return r, fmt.Errorf("%s: preparing: %w", sc.name, err)
	}
	repeat(sc, callers, duration/4, &result{}) // warms up caches and connections
	r = result{driver: t.database.config.Driver, scenario: sc.name, target: sc.target}
	before, err := t.usage()
	if err != nil {
		return r, err
	}
	begin := time.Now()
	repeat(sc, callers, duration, &r)
	r.elapsed = time.Since(begin)
	after, err := t.usage()
	r.server, r.database, r.traffic = after.server-before.server, after.database-before.database, after.traffic.since(before.traffic)
	slices.Sort(r.times)
	return r, err
}

func prepare(sc scenario, callers []*caller) (err error) {
	if sc.prepare == nil {
		return nil
	}
	var preparing sync.WaitGroup
	failures := make([]error, len(callers))
	for i, c := range callers {
		preparing.Go(func() { failures[i] = sc.prepare(c) })
	}
	preparing.Wait()
	for _, failure := range failures {
		if failure != nil {
			return failure
		}
	}
	return nil
}

// repeat adds the times and failures of all callers to a result.
func repeat(sc scenario, callers []*caller, duration time.Duration, r *result) {
	var working sync.WaitGroup
	var mu sync.Mutex
	end := time.Now().Add(duration)
	for _, c := range callers {
		working.Go(func() {
			own := result{}
			for begin := time.Now(); begin.Before(end); begin = time.Now() {
				own.add(time.Since, begin, sc.do(c))
			}
			mu.Lock()
			defer mu.Unlock()
			r.times, r.failures = append(r.times, own.times...), r.failures+own.failures
			if own.failure != nil {
				r.failure = own.failure
			}
		})
	}
	working.Wait()
}

// add counts a unit that began at a time.
func (r *result) add(since func(time.Time) time.Duration, begin time.Time, err error) {
	if err != nil {
		r.failures, r.failure = r.failures+1, err
		return
	}
	r.times = append(r.times, since(begin))
}

// usage is the resource usage of a server since its start.
type usage struct {
	server, database time.Duration
	traffic          counts
}

func (t *target) usage() (u usage, err error) {
	if u.server, err = processorTime(t.cmd.Process.Pid, false); err != nil {
		return u, err
	}
	if t.database.pid != 0 {
		u.database, err = processorTime(t.database.pid, true)
	}
	u.traffic = t.database.traffic()
	return u, err
}

// rate is the number of units per second that succeeded.
func (r result) rate() float64 { return float64(len(r.times)) / r.elapsed.Seconds() }

// percentile returns the time that p percent of the units did not exceed.
func (r result) percentile(p int) time.Duration {
	if len(r.times) == 0 {
		return 0
	}
	return r.times[min(len(r.times)-1, len(r.times)*p/100)]
}

// each divides a total by the number of units.
func (r result) each(total float64) float64 {
	units := len(r.times) + r.failures
	if units == 0 {
		return 0
	}
	return total / float64(units)
}
