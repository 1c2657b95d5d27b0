package main

import (
	"fmt"
	"io"
	"time"
)

// printHead writes the head of the table.
func printHead(w io.Writer) {
	fmt.Fprintf(w, "%-8s %8s  %-18s %8s %8s %8s %6s %8s %7s %7s %8s %7s %7s\n", "store", "users", "scenario",
		"units/s", "p50 ms", "p99 ms", "failed", "CPU ms", "target", "x raw", "DB CPU", "trips", "parses")
}

// printRow writes a row of the table. Processor times, round trips and preparations of statements
// are per unit.
func printRow(w io.Writer, r result) {
	cost := r.each(milliseconds(r.server))
	multiple := 0.0
	if r.raw > 0 {
		multiple = cost / milliseconds(r.raw)
	}
	fmt.Fprintf(w, "%-8s %8d  %-18s %8.0f %8.1f %8.1f %6d %8.3f %7s %7s %8s %7s %7s\n", r.driver, r.users, r.scenario,
		r.rate(), milliseconds(r.percentile(50)), milliseconds(r.percentile(99)), r.failures, cost,
		optional("%.2f", r.target), optional("%.2f", multiple), optional("%.3f", r.each(milliseconds(r.database))),
		optional("%.1f", r.each(float64(r.traffic.trips))), optional("%.2f", r.each(float64(r.traffic.parses))))
	if r.failure != nil {
		fmt.Fprintf(w, "  a failure: %v\n", r.failure)
	}
}

// printIdle writes what the server uses before the load.
func printIdle(w io.Writer, i idle) {
	fmt.Fprintf(w, "%s: ready after %.0f ms; idle: %.1f MiB, %.1f of them not of files, %.2f ms of processor time and %.1f statements per second\n",
		i.driver, milliseconds(i.ready), i.memory, i.anonymous, i.processor*1000, i.statements)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// optional formats a value, and nothing for 0.
func optional(format string, v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf(format, v)
}
