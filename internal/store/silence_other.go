//go:build !linux

package store

import "syscall"

// limitUnacknowledged does nothing: the probes of an idle connection have limits on these systems, and statements
// are given up as silence describes.
func limitUnacknowledged(string, string, syscall.RawConn) error { return nil }
