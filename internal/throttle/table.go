package throttle

import (
	"hash/maphash"
	"sync"
)

// The shape of a table. The slots of a set are two cache lines; as many shards
// keep any number of processors from waiting for each other.
const (
	bills  = 8
	shards = 64
)

// slot keeps a moment for a key. It is known by the hash of the key: two keys
// share one with a chance of 2^-64 for each pair, and nobody can look for such a
// pair, as the hash is seeded.
type slot struct {
	id    uint64
	until int64 // nanoseconds on the owner's clock
}

// set is all the places where a key can be.
type set [bills]slot

// find returns the slot of id, nil if it has none.
func (s *set) find(id uint64) *slot {
	for i := range s {
		if s[i].id == id {
			return &s[i]
		}
	}
	return nil
}

// oldest returns the slot whose moment comes first.
func (s *set) oldest() *slot {
	first := &s[0]
	for i := range s {
		if s[i].until < first.until {
			first = &s[i]
		}
	}
	return first
}

// table is a fixed number of slots. All of its memory is taken when it is made,
// and touched as it is used.
type table struct {
	seed   maphash.Seed
	shards [shards]shard
}

// shard is the sets behind one lock. The padding keeps two locks off one cache
// line.
type shard struct {
	mu   sync.Mutex
	sets []set
	_    [32]byte
}

// newTable makes a table of at least entries slots: a power of two.
func newTable(entries int) *table {
	t := &table{seed: maphash.MakeSeed()}
	size := 1
	for size*shards*bills < entries {
		size *= 2
	}
	all := make([]set, size*shards)
	for i := range t.shards {
		t.shards[i].sets = all[i*size : (i+1)*size : (i+1)*size]
	}
	return t
}

// lock finds where a key belongs and holds its shard, which the caller unlocks.
func (t *table) lock(k Key) (*shard, *set, uint64) {
	id := maphash.Bytes(t.seed, k[:])
	s := &t.shards[id%shards]
	at := &s.sets[id/shards%uint64(len(s.sets))]
	s.mu.Lock()
	return s, at, id
}
