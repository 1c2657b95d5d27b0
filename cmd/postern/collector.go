package main

import "runtime/debug"

// gcPercent lets the heap grow to five times the live data, a few megabytes, before the collector of
// Go runs, which took a tenth of the processor time of requests with the default of 100. GOMEMLIMIT
// makes it run earlier.
const gcPercent = 400

// relaxCollector sets gcPercent unless GOGC sets another value.
func relaxCollector() {
	const standard = 100
	if was := debug.SetGCPercent(gcPercent); was != standard {
		debug.SetGCPercent(was)
	}
}
