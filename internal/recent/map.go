// Package recent is a bounded cache of recently used values that are expensive to compute.
package recent

import "sync"

// Map maps keys to the values that were used lately. Its zero value is empty, and it is safe for
// concurrent use. It holds between half of Limit and Limit values.
type Map[K comparable, V any] struct {
	// Limit is the most values, at least 2. It must not change after the first use.
	Limit int

	mu             sync.Mutex
	recent, former map[K]V // each at most half of the values
}

// Find returns the value of a key.
func (m *Map[K, V]) Find(key K) (v V, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, found = m.recent[key]; found {
		return v, true
	}
	if v, found = m.former[key]; found {
		m.put(key, v)
	}
	return v, found
}

// Put sets the value of a key.
func (m *Map[K, V]) Put(key K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, v)
}

// put adds a value. When the map is full, it removes the values that were not used since the last
// removal.
func (m *Map[K, V]) put(key K, v V) {
	if m.recent == nil || len(m.recent) >= m.Limit/2 {
		m.former, m.recent = m.recent, map[K]V{}
	}
	m.recent[key] = v
}
