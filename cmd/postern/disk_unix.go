//go:build linux || darwin

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

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

// ownerOf returns a function that gives files to the owner of a path, or of the nearest folder above it that exists,
// if root runs the command: a server that runs as another user could not read them. It does not follow links, which
// that user can place there.
func ownerOf(path string) (give func(path string)) {
	info, err := os.Stat(path)
	for errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		info, err = os.Stat(path)
	}
	if err != nil || os.Geteuid() != 0 {
		return func(string) {}
	}
	owner := info.Sys().(*syscall.Stat_t)
	return func(path string) { _ = os.Lchown(path, int(owner.Uid), int(owner.Gid)) }
}
