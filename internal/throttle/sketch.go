package throttle

import (
	"hash/maphash"
	"sync/atomic"
)

// The shape of a sketch.
const (
	rows  = 4
	width = 1 << 11
)

// sketch keeps moments for any number of keys in a fixed array, and answers with
// the right one or a later one: never with an earlier one. Each key has a cell
// in each row, shared with whoever else falls there; the earliest of its cells is
// nearest to the truth (a count-min sketch, of moments in the place of counts).
// Cells cool down by themselves as time goes by.
type sketch struct {
	seed  maphash.Seed
	last  atomic.Int64 // no cell is later
	cells [rows][width]atomic.Int64
}

func newSketch() *sketch { return &sketch{seed: maphash.MakeSeed()} }

// hash spreads the keys anew: those that come here may all be of one set of the
// table, and their other hash has bits in common.
func (s *sketch) hash(k Key) uint64 { return maphash.Bytes(s.seed, k[:]) }

func (s *sketch) cell(row int, hash uint64) *atomic.Int64 {
	return &s.cells[row][hash>>(16*row)%width]
}

// get returns the moment of a key as of now: now, if it is over or there is none.
func (s *sketch) get(k Key, now int64) int64 {
	if s.last.Load() <= now {
		return now
	}
	hash := s.hash(k)
	until := s.cell(0, hash).Load()
	for row := 1; row < rows; row++ {
		until = min(until, s.cell(row, hash).Load())
	}
	return max(until, now)
}

// put makes sure that the moment of a key is not before until. Cells are only
// ever raised, so what others keep in them holds.
func (s *sketch) put(k Key, until int64) {
	hash := s.hash(k)
	raiseTo(&s.last, until)
	for row := range rows {
		raiseTo(s.cell(row, hash), until)
	}
}

func raiseTo(cell *atomic.Int64, until int64) {
	for {
		old := cell.Load()
		if old >= until || cell.CompareAndSwap(old, until) {
			return
		}
	}
}
