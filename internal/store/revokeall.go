package store

import "time"

// RevokeAllTokens gives all applications another generation of tokens, so that each token that was
// issued before is revoked, and returns their number. The generation must never have been used.
func RevokeAllTokens(t *Tx, generation string, now time.Time) (applications int, err error) {
	// The time of the last change must grow: caches and entity tags depend on it.
	n, err := t.exec(`UPDATE applications SET token_generation = ?,
		updated_at = CASE WHEN updated_at >= ? THEN updated_at + 1 ELSE ? END`, generation, toMicros(now), toMicros(now))
	return int(n), err
}
