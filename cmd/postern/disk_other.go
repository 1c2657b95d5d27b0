//go:build !linux && !darwin

package main

// freeSpace is unknown on this system.
func freeSpace(string) (free uint64, known bool) { return 0, false }

// isWritable is unknown on this system.
func isWritable(string) bool { return true }

// ownerOf does nothing on this system.
func ownerOf(string) (give func(path string)) { return func(string) {} }
