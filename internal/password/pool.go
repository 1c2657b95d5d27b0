package password

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// The defaults: the second of the equal choices of the OWASP Password Storage
// Cheat Sheet for argon2id. Salt and key have the lengths of RFC 9106 §4.
const (
	DefaultMemoryKiB  = 19 << 10
	DefaultIterations = 2

	saltLength = 16
	keyLength  = 32
)

// Options set the cost of a hash and how many run or wait. The zero value gives the defaults.
type Options struct {
	MemoryKiB  uint32 // of each hash; 0: DefaultMemoryKiB
	Iterations uint32 // 0: DefaultIterations
	// Workers is how many hashes run at once. 0: half the processors, but at least one, so that
	// hashing never occupies the whole machine.
	Workers int
	// Queue is how many callers can wait for a worker. 0: 16 for each worker; negative: none.
	// Networks take turns, and when the queue is full the network with the most waiting callers
	// loses a place: see queue.
	Queue int
	// Source returns the source of the request of a context. Nil means one common source.
	Source func(context.Context) Source
}

// Pool hashes and verifies passwords. It is safe for concurrent use.
type Pool struct {
	cost    params
	workers int
	queue   queue
	source  func(context.Context) Source
	derive  func(password string, h phc, length int) []byte
	times   equalizer // of verifications
}

// Stats describes the pool at a moment.
type Stats struct {
	Running, Waiting int
	Refused          int64 // callers that failed with the code overloaded, since the start
}

// Stats returns the state of the pool.
func (p *Pool) Stats() Stats {
	q := &p.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	return Stats{Running: p.workers - q.idle, Waiting: len(q.waiting), Refused: q.refused}
}

// New returns a pool. It needs no Close. It panics on a cost that Verify would reject.
func New(o Options) *Pool {
	o = o.withDefaults()
	cost := params{memoryKiB: o.MemoryKiB, iterations: o.Iterations, parallelism: 1}
	if err := cost.check(); err != nil {
		panic("password: " + err.Error())
	}
	return &Pool{
		cost:    cost,
		workers: o.Workers,
		queue:   queue{idle: o.Workers, places: o.Queue},
		source:  o.Source,
		derive:  derive,
	}
}

func (o Options) withDefaults() Options {
	o.MemoryKiB, o.Iterations = cmp.Or(o.MemoryKiB, DefaultMemoryKiB), cmp.Or(o.Iterations, DefaultIterations)
	if o.Workers <= 0 {
		o.Workers = max(1, runtime.GOMAXPROCS(0)/2)
	}
	o.Queue = max(0, cmp.Or(o.Queue, 16*o.Workers))
	if o.Source == nil {
		o.Source = func(context.Context) Source { return Source{} }
	}
	return o
}

// Hash returns the PHC string of a password with a new salt. If the pool is full and the caller's
// network has the most waiting callers, it fails with a schemas.Error of class Unavailable, code
// overloaded and RetryAfter; if ctx ends while waiting, with ctx's error.
func (p *Pool) Hash(ctx context.Context, password string) (string, error) {
	h := phc{params: p.cost, salt: make([]byte, saltLength)}
	rand.Read(h.salt) // never fails
	if _, err := p.inTurn(ctx, func() { h.key = p.derive(password, h, keyLength) }); err != nil {
		return "", err
	}
	return h.String(), nil
}

// Verify reports whether the password matches the hash, and if so whether the hash should be
// replaced: because its cost is not the pool's, or because it is an [Imported] one. No password
// matches the hash "", of a user without a password, and that takes as long as for any other user.
// Verify fails like Hash, and for a stored hash that is malformed or exceeds the limits.
func (p *Pool) Verify(ctx context.Context, stored, password string) (ok, rehash bool, err error) {
	imported, known, err := parseImported(stored)
	own := phc{params: p.cost, salt: make([]byte, saltLength), key: make([]byte, keyLength)}
	if err == nil && !known && stored != "" {
		own, err = parsePHC(stored)
	}
	if err != nil {
		return false, false, fmt.Errorf("stored password hash: %w", err)
	}
	took, err := p.inTurn(ctx, func() {
		if known {
			ok = imported.matches(password)
			return
		}
		key := p.derive(password, own, len(own.key))
		ok = subtle.ConstantTimeCompare(key, own.key) == 1 && stored != ""
	})
	if err != nil {
		return false, false, err
	}
	cost := ""
	if known {
		cost = imported.cost()
	}
	p.times.add(time.Now(), cost, took)
	if !ok {
		return false, false, p.equalize(ctx, took)
	}
	return true, known || p.outdated(own), nil
}

// equalize delays the result of a wrong password until the most expensive verification would have
// ended. The costs of imported hashes differ from those of the pool, so the time would reveal that a
// user exists and has not signed in since the import. A pool without imported hashes does not wait.
func (p *Pool) equalize(ctx context.Context, took time.Duration) error {
	rest := p.times.longest(time.Now()) - took
	if rest <= 0 {
		return nil
	}
	select {
	case <-time.After(rest):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *Pool) outdated(h phc) bool {
	return h.params != p.cost || len(h.salt) < saltLength || len(h.key) != keyLength
}

// inTurn calls do when it is the caller's turn, and returns how long do took.
func (p *Pool) inTurn(ctx context.Context, do func()) (took time.Duration, err error) {
	if err := p.queue.acquire(ctx, p.source(ctx)); err != nil {
		return 0, err
	}
	defer p.queue.release()
	begun := time.Now()
	do()
	return time.Since(begun), nil
}

func derive(password string, h phc, length int) []byte {
	return argon2.IDKey([]byte(norm.NFC.String(password)), h.salt,
		h.iterations, h.memoryKiB, h.parallelism, uint32(length))
}
