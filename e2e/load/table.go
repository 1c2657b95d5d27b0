package main

import (
	"fmt"
	"io"
	"time"
)

// printHead writes the head of the table.
func printHead(w io.Writer) {
	fmt.Fprintf(w, "%-8s %9s  %-18s %9s %8s %8s %6s %9s %9s %9s %9s %9s\n", "store", "users", "scenario",
		"units/s", "p50 ms", "p99 ms", "failed", "CPU ms", "target", "DB CPU ms", "trips", "statements")
}

// printRow writes a row of the table. Processor times, round trips and statements are per unit.
func printRow(w io.Writer, r result) {
	fmt.Fprintf(w, "%-8s %9d  %-18s %9.0f %8.1f %8.1f %6d %9.3f %9s %9s %9s %9s\n", r.driver, r.users, r.scenario,
		r.rate(), milliseconds(r.percentile(50)), milliseconds(r.percentile(99)), r.failures,
		r.each(milliseconds(r.server)), optional("%.2f", r.target), optional("%.3f", r.each(milliseconds(r.database))),
		optional("%.1f", r.each(float64(r.traffic.trips))), optional("%.1f", r.each(float64(r.traffic.statements))))
	if r.failure != nil {
		fmt.Fprintf(w, "  a failure: %v\n", r.failure)
	}
}

// printIdle writes what the server uses before the load.
func printIdle(w io.Writer, i idle) {
	fmt.Fprintf(w, "%s: ready after %.0f ms; idle: %.1f MiB, %.2f ms of processor time and %.1f statements per second\n",
		i.driver, milliseconds(i.ready), i.memory, i.processor*1000, i.statements)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// optional formats a value, and nothing for 0.
func optional(format string, v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf(format, v)
}

