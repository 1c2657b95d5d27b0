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

// isWritable reports whether the user of this process may write to a file or folder. The file system
// may be read-only.
func isWritable(path string) bool {
	const write = 2 // W_OK of access(2)
	return syscall.Access(path, write) == nil
}
