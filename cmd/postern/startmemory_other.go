//go:build !linux

package main

import "runtime/debug"

// releaseStartMemory returns free memory of the heap to the system, which only the start needed.
func releaseStartMemory() { debug.FreeOSMemory() }
