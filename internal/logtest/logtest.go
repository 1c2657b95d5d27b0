// Package logtest holds what tests read of what goes on beside them.
package logtest

import (
	"strings"
	"sync"
)

// Buffer keeps what is written to it, by whatever goroutine or process: the log of a
// server, say. The zero value is empty and ready.
type Buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write appends to the text. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is what has been written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Reset forgets what has been written so far.
func (b *Buffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Reset()
}
