package throttle

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Pending bounds how many rows are kept for sign-ins that nobody has finished, for the
// whole service: anybody may begin one, so a flood of them would fill the database.
//
// It sheds load by the dynamic thresholds of shared buffers (Choudhury and Hahne 1998):
// a network may have as many rows pending as a part of what is free. So one that
// floods has a fifth of the capacity at most, several have less each the more they
// are, and room is left for everybody else until there is none. A device that a user
// has signed in with before has a reserve of its own, which strangers cannot use up.
//
// The total is what the database was last found to hold (see Observe) and what this
// process has added since, so that several instances keep to one capacity, within what
// they add between two counts. Which network added how much each process knows by
// itself, in memory of a fixed size; counts of different networks may fall together
// there, which errs by refusing too much.
//
// A nil Pending admits everything. Methods may be called by any number of goroutines.
type Pending struct {
	what     string // in the words of an error
	capacity int
	now      func() time.Time
	every    time.Duration // a generation

	mu       sync.Mutex
	observed int // in the database, when it was last counted
	since    int // added from then on
	seeds    [hashes]maphash.Seed
	current  int
	turned   time.Time // when the current generation began
	counts   [generations]generation
}

// A generation is what was added and released in a part of the time that rows are kept.
// The oldest is forgotten when its rows have expired.
type generation [hashes][columns]int32

const (
	generations = 5 // four parts of the time, and the current one
	hashes      = 2
	columns     = 1 << 11
)

// The parts of what is free that a network, the wider one around it, and a device may
// have, as divisors; and the part of the capacity that is reserved for devices.
const (
	nearPart, widePart, devicePart = 4, 2, 16
	reservePart                    = 4
)

// NewPending bounds rows that are kept for a time and called what in errors. Without a
// capacity there is no bound, and it returns nil.
func NewPending(what string, capacity int, kept time.Duration, now func() time.Time) *Pending {
	if capacity <= 0 {
		return nil
	}
	p := &Pending{what: what, capacity: capacity, now: now, every: kept / (generations - 1), turned: now()}
	for i := range p.seeds {
		p.seeds[i] = maphash.MakeSeed()
	}
	return p
}

// Admit counts a row that a request from a network, and from a device if ctx has one
// (see NewContext and WithDevice), is about to add. Or it returns an error of class
// Throttled, if the network has more than its share pending, or Unavailable, if there
// is no room for strangers at all.
func (p *Pending) Admit(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn()
	network, device := FromContext(ctx), p.device(ctx)
	free := p.capacity - p.total()
	if device != (Key{}) && p.count(device)*devicePart < free+p.capacity/reservePart {
		p.add(1, device)
		return nil
	}
	switch {
	case free <= 0:
		return p.refuse(schemas.Unavailable, schemas.CodeOverloaded, "too many %s are unfinished", time.Minute)
	case p.count(network.Near)*nearPart >= free, p.count(network.Wide)*widePart >= free:
		return p.refuse(schemas.Throttled, CodeTooManyRequests, "too many %s from your network are unfinished", p.every/10)
	}
	p.add(1, network.Near, network.Wide)
	return nil
}

// Release takes back a row of the network or device of ctx: it was finished.
func (p *Pending) Release(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn()
	if device := p.device(ctx); p.count(device) > 0 {
		p.add(-1, device)
		return
	}
	network := FromContext(ctx)
	p.add(-1, network.Near, network.Wide)
}

// Observe says how many rows the database holds.
func (p *Pending) Observe(stored int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.observed, p.since = stored, 0
}

// Limit is how many rows have to be counted at most for Observe.
func (p *Pending) Limit() int {
	if p == nil {
		return 0
	}
	return p.capacity + p.capacity/reservePart
}

// Crowded reports whether more than half of the capacity is in use.
func (p *Pending) Crowded() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total() > p.capacity/2
}

func (p *Pending) refuse(class schemas.Class, code, what string, wait time.Duration) error {
	err := schemas.Errorf(class, code, what+"; try again in %v", p.what, wait.Round(time.Second))
	err.RetryAfter = wait
	return err
}

// device is the key of a device that somebody has signed in with.
func (p *Pending) device(ctx context.Context) Key {
	device, _ := ctx.Value(deviceKey{}).(*Device)
	return device.known(p.now())
}

// total is how many rows there are, as far as this process can tell.
func (p *Pending) total() int { return max(0, p.observed+p.since) }

// turn forgets what was counted so long ago that it has expired.
func (p *Pending) turn() {
	for i := 0; i < generations && p.now().Sub(p.turned) >= p.every; i++ {
		p.turned = p.turned.Add(p.every)
		p.current = (p.current + 1) % generations
		p.counts[p.current] = generation{}
	}
	if p.now().Sub(p.turned) >= p.every {
		p.turned = p.now()
	}
}

// count is how many rows a key has pending, or more.
func (p *Pending) count(k Key) int {
	if k == (Key{}) {
		return 0
	}
	least := int32(1) << 30
	for row := range p.seeds {
		column := p.column(row, k)
		var sum int32
		for i := range p.counts {
			sum += p.counts[i][row][column]
		}
		least = min(least, sum)
	}
	return int(max(0, least))
}

// add counts n rows for each of the keys, and in the total.
func (p *Pending) add(n int, keys ...Key) {
	p.since += n
	for _, k := range keys {
		if k == (Key{}) || n < 0 && p.count(k) == 0 {
			continue
		}
		for row := range p.seeds {
			p.counts[p.current][row][p.column(row, k)] += int32(n)
		}
	}
}

func (p *Pending) column(row int, k Key) uint64 { return maphash.Bytes(p.seeds[row], k[:]) % columns }
