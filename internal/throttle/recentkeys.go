package throttle

import "time"

// recentKeys remembers for a while which keys were added, in memory of a fixed size. When
// it is full it forgets the oldest key. That costs the key its privilege and grants none.
type recentKeys struct {
	table *table
	ttl   int64
}

func newRecentKeys(entries int, ttl time.Duration) *recentKeys {
	return &recentKeys{table: newTable(entries), ttl: int64(ttl)}
}

// has reports whether the key was added within the time to live.
func (n *recentKeys) has(k Key, now int64) bool {
	shard, set, id := n.table.lock(k)
	defer shard.mu.Unlock()
	at := set.find(id)
	return at != nil && at.until > now
}

// add adds the key or renews it.
func (n *recentKeys) add(k Key, now int64) {
	shard, set, id := n.table.lock(k)
	defer shard.mu.Unlock()
	at := set.find(id)
	if at == nil {
		at = set.oldest()
		at.id = id
	}
	at.until = now + n.ttl
}
