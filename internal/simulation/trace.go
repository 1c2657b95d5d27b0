package simulation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// Trace is what happened in a simulation, as lines. Equal seeds give equal digests. Lines must
// contain nothing that depends on the process, such as ids that contain the time.
type Trace struct {
	// Keep is how many of the last lines are kept.
	Keep int

	sum   hash.Hash
	last  []string
	lines int
}

// Add adds a line.
func (t *Trace) Add(format string, args ...any) {
	if t.sum == nil {
		t.sum = sha256.New()
	}
	line := fmt.Sprintf(format, args...)
	fmt.Fprintln(t.sum, line)
	t.lines++
	if t.Keep == 0 {
		return
	}
	if t.last = append(t.last, line); len(t.last) > 2*t.Keep {
		t.last = append([]string(nil), t.last[len(t.last)-t.Keep:]...)
	}
}

// Digest returns the number of lines and their SHA-256.
func (t *Trace) Digest() string {
	if t.sum == nil {
		return "0"
	}
	return fmt.Sprint(t.lines, " ", hex.EncodeToString(t.sum.Sum(nil)))
}

// Last returns the last lines that were kept.
func (t *Trace) Last() []string { return t.last[max(0, len(t.last)-t.Keep):] }
