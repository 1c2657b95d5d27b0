package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// startTarget is the time from the start of the process to its first answer over TLS.
const startTarget = 60 * time.Millisecond

// measureStarts starts the server a number of times on its store, and returns the times to the first
// answer over TLS, sorted. The store exists already, and the program is in the cache of the system.
func (t *target) measureStarts(number int) ([]time.Duration, error) {
	times := make([]time.Duration, number)
	for i := range times {
		if err := t.start(""); err != nil {
			return nil, err
		}
		times[i] = t.ready
		time.Sleep(reportsPeriod)
		if err := t.stop(); err != nil {
			return nil, err
		}
	}
	slices.Sort(times)
	return times, nil
}

// reportsPeriod is how long the reports after a start take, so that they do not delay the next start.
const reportsPeriod = 500 * time.Millisecond

// printStarts writes the distribution of the times, which are sorted.
func printStarts(w io.Writer, driver string, times []time.Duration) {
	met := 0
	for _, took := range times {
		if took <= startTarget {
			met++
		}
	}
	fmt.Fprintf(w, "%s: %d starts to the first answer over TLS: %.0f ms at best, %.0f at the median, %.0f at most; %d of them within %.0f ms\n",
		driver, len(times), milliseconds(times[0]), milliseconds(times[len(times)/2]), milliseconds(times[len(times)-1]), met, milliseconds(startTarget))
}
