//go:build !linux && !darwin

package main

// freeSpace is unknown on this system.
func freeSpace(string) (free uint64, known bool) { return 0, false }
