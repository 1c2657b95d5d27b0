// Package logtest lets tests read logs.
package logtest

import (
	"strings"
	"sync"
)

// Buffer collects the log of a server or process. It is safe for concurrent use. The zero
// value is empty and ready.
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

// String returns what has been written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Reset discards what has been written so far.
func (b *Buffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Reset()
}
