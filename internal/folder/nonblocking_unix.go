//go:build unix

package folder

import "syscall"

// nonBlocking opens a named pipe without waiting for a writer.
const nonBlocking = syscall.O_NONBLOCK
