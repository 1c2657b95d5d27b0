package throttle

import (
	"hash/maphash"
	"sync"
)

// The dimensions of a table. The slots of a set fill two cache lines. The number of shards
// keeps processors from waiting for each other.
const (
	slotsPerSet = 8
	shards      = 64
)

// slot stores a moment for a key, identified by the key's hash. Two keys collide with a
// probability of 2^-64. The hash is seeded, so collisions cannot be searched for.
type slot struct {
	id    uint64
	until int64 // nanoseconds on the owner's clock
}

// set is all the places where a key can be.
type set [slotsPerSet]slot

// find returns the slot of id, nil if there is none.
func (s *set) find(id uint64) *slot {
	for i := range s {
		if s[i].id == id {
			return &s[i]
		}
	}
	return nil
}

// oldest returns the slot with the earliest moment.
func (s *set) oldest() *slot {
	first := &s[0]
	for i := range s {
		if s[i].until < first.until {
			first = &s[i]
		}
	}
	return first
}

// table is a fixed number of slots. The memory of a shard is allocated when the shard is used for the
// first time, so a server without attackers needs little of it.
type table struct {
	seed   maphash.Seed
	size   int // sets of a shard
	shards [shards]shard
}

// shard is the sets behind one lock. The padding puts each lock on its own cache line.
type shard struct {
	mu   sync.Mutex
	sets []set // nil until the first use
	_    [32]byte
}

// newTable makes a table of at least entries slots, rounded up to a power of two.
func newTable(entries int) *table {
	t := &table{seed: maphash.MakeSeed(), size: 1}
	for t.size*shards*slotsPerSet < entries {
		t.size *= 2
	}
	return t
}

// lock finds the set of a key and locks its shard. The caller unlocks it.
func (t *table) lock(k Key) (*shard, *set, uint64) {
	id := maphash.Bytes(t.seed, k[:])
	s := &t.shards[id%shards]
	s.mu.Lock()
	if s.sets == nil {
		s.sets = make([]set, t.size)
	}
	return s, &s.sets[id/shards%uint64(t.size)], id
}
