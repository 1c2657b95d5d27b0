//go:build linux || darwin

package main

import "syscall"

// freeSpace returns the bytes that are free for the process in the file system of a path.
func freeSpace(path string) (free uint64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
