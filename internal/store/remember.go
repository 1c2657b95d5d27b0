package store

import (
	"regexp"
	"sync/atomic"
	"time"

	"github.com/postern-id/postern/internal/recent"
)

// Remembering
//
// A store on SQLite has one process that serves requests, so it need not ask the database at each
// request whether an application has changed: it knows its own commits. Commands may change the file
// while the server runs, which it notices within a second. With PostgreSQL, where other instances
// change the data, each request asks.

const (
	rememberedTTL = time.Second
	maxRemembered = 4096
)

// memo holds results of queries about applications and what they refer to.
type memo struct {
	results recent.Map[string, remembered]
	commits atomic.Uint64 // of this process that changed these rows
}

// remembered is the result of a query.
type remembered struct {
	value   any
	commits uint64
	until   time.Time
}

func newMemo() *memo {
	m := new(memo)
	m.results.Limit = maxRemembered
	return m
}

// remember returns the result of read as it was remembered, or calls it. The key names the
// query and its parameters. A write that ends before remember is called is in the result. Errors are
// not remembered.
func remember[T any](s *Store, key string, read func() (T, error)) (T, error) {
	if s.memo == nil {
		return read()
	}
	commits, now := s.memo.commits.Load(), time.Now()
	if r, found := s.memo.results.Find(key); found && r.commits == commits && now.Before(r.until) {
		return r.value.(T), nil
	}
	value, err := read()
	if err == nil {
		s.memo.results.Put(key, remembered{value, commits, now.Add(rememberedTTL)})
	}
	return value, err
}

// forget makes remember read everything again.
func (m *memo) forget() {
	if m != nil {
		m.commits.Add(1)
	}
}

// changesRemembered matches a statement that changes what remember returns. No other table has a foreign
// key whose action changes these tables.
var changesRemembered = regexp.MustCompile(`^\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+(?:applications|oauth_profiles|flows|organization_units)\b`)
