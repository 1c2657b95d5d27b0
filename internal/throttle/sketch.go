package throttle

import (
	"hash/maphash"
	"sync/atomic"
)

// The dimensions of a sketch.
const (
	rows  = 4
	width = 1 << 11
)

// sketch stores a moment per key, for any number of keys, in a fixed array. It returns the
// right moment or a later one, never an earlier one. Each key has a cell in each row, which
// other keys may share; the earliest of its cells is the best estimate (a count-min sketch
// of moments instead of counts). Cells expire as time passes. They are allocated when a key is raised
// for the first time, which needs a flood.
type sketch struct {
	seed  maphash.Seed
	last  atomic.Int64 // no cell is later
	cells atomic.Pointer[sketchCells]
}

type sketchCells [rows][width]atomic.Int64

func newSketch() *sketch { return &sketch{seed: maphash.MakeSeed()} }

// hash uses a seed other than the table's: the keys that overflow to the sketch may all
// belong to one set of the table, so their table hashes share bits.
func (s *sketch) hash(k Key) uint64 { return maphash.Bytes(s.seed, k[:]) }

func (c *sketchCells) cell(row int, hash uint64) *atomic.Int64 {
	return &c[row][hash>>(16*row)%width]
}

// get returns the moment of a key: now, if the moment has passed or is unknown.
func (s *sketch) get(k Key, now int64) int64 {
	cells := s.cells.Load()
	if cells == nil || s.last.Load() <= now {
		return now
	}
	hash := s.hash(k)
	until := cells.cell(0, hash).Load()
	for row := 1; row < rows; row++ {
		until = min(until, cells.cell(row, hash).Load())
	}
	return max(until, now)
}

// raise moves the moment of a key to at least until. It never lowers a cell, so other keys
// keep theirs.
func (s *sketch) raise(k Key, until int64) {
	if s.cells.Load() == nil {
		s.cells.CompareAndSwap(nil, new(sketchCells))
	}
	cells, hash := s.cells.Load(), s.hash(k)
	raiseTo(&s.last, until)
	for row := range rows {
		raiseTo(cells.cell(row, hash), until)
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
