package token

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postern-id/postern/schemas"
)

// ring stores keys in memory. Before is called before a key is added, to simulate a faster
// instance.
type ring struct {
	mu     sync.Mutex
	keys   []schemas.SigningKey
	events []schemas.Event
	reads  atomic.Int64
	before func()
	fault  error // of all reads and writes, nil for none
}

func (r *ring) SigningKeys(context.Context) ([]schemas.SigningKey, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads.Add(1)
	return slices.Clone(r.keys), r.fault
}

func (r *ring) AddSigningKey(_ context.Context, k schemas.SigningKey) error {
	if before := r.before; before != nil {
		r.before = nil
		before()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.add(k)
}

func (r *ring) add(k schemas.SigningKey) error {
	for _, other := range r.keys {
		if other.Algorithm == k.Algorithm && other.Status == k.Status && k.Status != schemas.KeyRetired {
			return schemas.Errorf(schemas.Conflict, "key_exists", "another key is %s", k.Status)
		}
	}
	r.keys = append(r.keys, k)
	return nil
}

func (r *ring) PublishSigningKey(_ context.Context, k schemas.SigningKey, after string, e schemas.Event) error {
	return r.change(e, func() error {
		if r.find(after, schemas.KeySigning) == nil {
			return errMoved()
		}
		return r.add(k)
	})
}

func (r *ring) PromoteSigningKey(_ context.Context, id, after string, at time.Time, e schemas.Event) error {
	return r.change(e, func() error {
		next, old := r.find(id, schemas.KeyPublished), r.find(after, schemas.KeySigning)
		if next == nil || old == nil && after != "" {
			return errMoved()
		}
		if old != nil {
			old.Status, old.RetiredAt = schemas.KeyRetired, at
		}
		next.Status, next.SignsSince = schemas.KeySigning, at
		return nil
	})
}

func (r *ring) RemoveSigningKey(_ context.Context, id string, at time.Time, e schemas.Event) error {
	return r.change(e, func() error {
		k := r.find(id, schemas.KeyRetired)
		if k == nil || k.NeededUntil.After(at) {
			return errMoved()
		}
		r.keys = slices.DeleteFunc(r.keys, func(k schemas.SigningKey) bool { return k.ID == id })
		return nil
	})
}

func (r *ring) NeedSigningKey(_ context.Context, id string, until time.Time) error {
	return r.change(schemas.Event{Action: "needed"}, func() error {
		for n := range r.keys {
			if k := &r.keys[n]; k.ID == id {
				if until.After(k.NeededUntil) {
					k.NeededUntil = until
				}
				return nil
			}
		}
		return errMoved()
	})
}

func (r *ring) change(e schemas.Event, do func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault != nil {
		return r.fault
	}
	err := do()
	if err == nil {
		r.events = append(r.events, e)
	}
	return err
}

func (r *ring) find(id string, status schemas.KeyStatus) *schemas.SigningKey {
	for n := range r.keys {
		if k := &r.keys[n]; k.ID == id && k.Status == status {
			return k
		}
	}
	return nil
}

func errMoved() error { return schemas.Errorf(schemas.Conflict, "key_moved", "the key is elsewhere") }

// count returns the number of events of an action.
func (r *ring) count(action string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Action == action {
			n++
		}
	}
	return n
}
