package throttle

import (
	"context"
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Pending bounds the rows that unfinished sign-ins occupy, for the whole service: any
// caller can start a sign-in, so a flood could fill the database.
//
// It sheds load by the dynamic thresholds of shared buffers (Choudhury and Hahne 1998): the
// rows that a network may have pending are a fraction of the free capacity. One flooding
// network gets at most a fifth of the capacity, several get less each, and others find space
// until there is none. Devices that a user has signed in with before have a reserve that
// unknown callers cannot use up.
//
// The total is the last count of the database (see Observe) plus what this process has
// added since. So several instances share one capacity, with an error of what they add
// between two counts. Each process knows which networks added how many rows: not more networks
// than rows.
//
// A nil Pending admits everything. Methods are safe for concurrent use.
type Pending struct {
	noun     string // for error messages
	capacity int
	now      func() time.Time
	every    time.Duration // duration of a generation

	mu       sync.Mutex
	observed int       // rows in the database when last counted
	added    int       // rows added since then
	rotated  time.Time // start of the current generation
	// counts are the pending rows of each network and device by the part of the rows' lifetime in
	// which they were added; the current part is the last.
	counts [generations]map[Key]int
}

// generations is how many parts of the rows' lifetime are counted, with the current one. The oldest
// part is dropped when its rows have expired.
const generations = 5

// The fractions of the free capacity that a network, the wider network around it, and a
// device may use, as divisors; and the fraction of the capacity that is reserved for
// devices.
const (
	nearPart, widePart, devicePart = 4, 2, 16
	reservePart                    = 4
)

// NewPending bounds rows with a lifetime. what is their name in error messages. Without a capacity
// it returns nil, which sets no bound.
func NewPending(what string, capacity int, kept time.Duration, now func() time.Time) *Pending {
	if capacity <= 0 {
		return nil
	}
	p := &Pending{noun: what, capacity: capacity, now: now, every: kept / (generations - 1), rotated: now()}
	p.counts[generations-1] = map[Key]int{}
	return p
}

// Admit counts a row that a request is about to add, for the network and device of ctx (see
// NewContext and WithDevice). It returns an error of class Throttled if the network has
// more than its share pending, or Unavailable if there is no space for unknown callers at
// all.
func (p *Pending) Admit(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rotate()
	network, device := FromContext(ctx), p.device(ctx)
	free := p.capacity - p.total()
	if device != (Key{}) && p.count(device)*devicePart < free+p.capacity/reservePart {
		p.add(device)
		return nil
	}
	switch {
	case free <= 0:
		return p.refuse(schemas.Unavailable, schemas.CodeOverloaded, "too many %s are unfinished", time.Minute)
	case p.count(network.Near)*nearPart >= free, p.count(network.Wide)*widePart >= free:
		return p.refuse(schemas.Throttled, CodeTooManyRequests, "too many %s from your network are unfinished", p.every/10)
	}
	p.add(network.Near, network.Wide)
	return nil
}

// Add admits a row and calls insert. It releases the row if insert fails.
func (p *Pending) Add(ctx context.Context, insert func() error) error {
	if err := p.Admit(ctx); err != nil {
		return err
	}
	err := insert()
	if err != nil {
		p.Release(ctx)
	}
	return err
}

// Release removes a finished row of the network or device of ctx.
func (p *Pending) Release(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rotate()
	if device := p.device(ctx); p.count(device) > 0 {
		p.remove(device)
		return
	}
	network := FromContext(ctx)
	p.remove(network.Near, network.Wide)
}

// Observe sets the number of rows in the database.
func (p *Pending) Observe(stored int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.observed, p.added = stored, 0
}

// Limit is the number at which the caller of Observe can stop counting.
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
	err := schemas.Errorf(class, code, what+"; try again in %v", p.noun, wait.Round(time.Second))
	err.RetryAfter = wait
	return err
}

// device returns the key of a device with an earlier sign-in, zero for none.
func (p *Pending) device(ctx context.Context) Key {
	device, _ := ctx.Value(deviceKey{}).(*Device)
	return device.known(p.now())
}

// total is the number of rows, as far as this process knows.
func (p *Pending) total() int { return max(0, p.observed+p.added) }

// rotate drops the generations that have expired.
func (p *Pending) rotate() {
	for i := 0; i < generations && p.now().Sub(p.rotated) >= p.every; i++ {
		p.rotated = p.rotated.Add(p.every)
		copy(p.counts[:], p.counts[1:])
		p.counts[generations-1] = map[Key]int{}
	}
	if p.now().Sub(p.rotated) >= p.every {
		p.rotated = p.now()
	}
}

// count returns the pending rows of a key.
func (p *Pending) count(k Key) (n int) {
	for _, counts := range p.counts {
		n += counts[k]
	}
	return n
}

// add adds a row to each of the keys and to the total.
func (p *Pending) add(keys ...Key) {
	p.added++
	for _, k := range keys {
		if k != (Key{}) {
			p.counts[generations-1][k]++
		}
	}
}

// remove removes the newest row of each of the keys, and one of the total.
func (p *Pending) remove(keys ...Key) {
	p.added--
	for _, k := range keys {
		i := generations - 1
		for i > 0 && p.counts[i][k] == 0 {
			i--
		}
		if p.counts[i][k] > 1 {
			p.counts[i][k]--
		} else {
			delete(p.counts[i], k)
		}
	}
}
