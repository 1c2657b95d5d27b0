package directory

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Create implements Resource.
func (c *collection[T]) Create(ctx context.Context, call Call, d *schemas.Document) (*Item, error) {
	return c.write(ctx, call, d, nil, nil)
}

// Replace implements Resource.
func (c *collection[T]) Replace(ctx context.Context, call Call, id, match string, d *schemas.Document) (*Item, error) {
	return c.write(ctx, call, d, &target{id, match}, nil)
}

// updatePart replaces a resource by a copy that change modifies. The copy is shallow:
// change must not write into values that it shares with the resource. Problems are reported
// relative to the part.
func (c *collection[T]) updatePart(ctx context.Context, call Call, id, part string, change func(w *writeContext, v *T)) (*Item, error) {
	var item *Item
	err := c.transact(ctx, call, func(w *writeContext) error {
		w.part = part
		at := &target{id: id}
		old, err := c.target(w, at)
		if err != nil {
			return err
		}
		v := *old
		change(w, &v)
		if err := c.validate(w, at, old, &v); err != nil {
			return err
		}
		return c.apply(w, old, &v, &item)
	})
	return item, err
}

// target identifies the resource that a write replaces.
type target struct{ id, match string }

// write creates a resource or replaces the target. Adjust may change the decoded document
// before validation; it may be nil.
func (c *collection[T]) write(ctx context.Context, call Call, d *schemas.Document, at *target, adjust func(w *writeContext, v *T) error) (*Item, error) {
	var item *Item
	d = d.WithoutAbsent(c.noun.Schema())
	prepared, err := c.prepared(ctx, call, at, d)
	if err != nil {
		return nil, err
	}
	err = c.transact(ctx, call, func(w *writeContext) error {
		w.prepared = prepared
		old, v, err := c.read(w, at, d, adjust)
		if err != nil {
			return err
		}
		return c.apply(w, old, v, &item)
	})
	return item, err
}

// read returns the target and the valid resource of a document that takes its place.
func (c *collection[T]) read(w *writeContext, at *target, d *schemas.Document, adjust func(w *writeContext, v *T) error) (old, v *T, err error) {
	v = new(T) // new in each attempt: rules write into it
	w.document, w.shape = d, d.DecodeLoosely(c.noun.Schema(), v)
	checkText(w, d)
	if adjust != nil {
		if err := adjust(w, v); err != nil {
			return nil, nil, err
		}
	}
	if old, err = c.target(w, at); err != nil {
		return nil, nil, err
	}
	return old, v, c.validate(w, at, old, v)
}

// transact runs one write, after what precedes its transaction.
func (c *collection[T]) transact(ctx context.Context, call Call, do func(*writeContext) error) error {
	if c.before != nil && call.tx == nil {
		if err := c.before(ctx); err != nil {
			return err
		}
	}
	return c.d.transact(ctx, call, do)
}

// prepared runs prepare before the transaction: in SQLite a transaction blocks all other
// writes.
func (c *collection[T]) prepared(ctx context.Context, call Call, at *target, d *schemas.Document) (any, error) {
	if c.prepare == nil {
		return nil, nil
	}
	v := new(T)
	d.DecodeLoosely(c.noun.Schema(), v)
	return c.prepare(ctx, call, at, v)
}

// target reads the resource to replace; nil if there is none.
func (c *collection[T]) target(w *writeContext, at *target) (*T, error) {
	return readTarget(w, c.noun, at, c.table.Get, func(v *T) time.Time { return *c.meta(v).updated })
}

// readTarget reads a target that must match its If-Match value.
func readTarget[T any](w *writeContext, n Noun, at *target, get func(context.Context, store.Reader, string) (*T, error), updated func(*T) time.Time) (*T, error) {
	if at == nil {
		return nil, nil
	}
	old, err := get(w.ctx, w.tx, at.id)
	if err == nil && !matches(at.match, etag(updated(old))) {
		return nil, n.errMatch()
	}
	return old, err
}

// validate completes v and returns an error with all its problems.
func (c *collection[T]) validate(w *writeContext, at *target, old, v *T) error {
	checkID(w, at, *c.meta(v).id)
	c.complete(w, old, v)
	c.check(w, old, v)
	return w.err(c.noun)
}

// checkID checks the id in a document. A new resource gets this id, so that files can refer
// to it. It must be unused by every noun, because an id also identifies an actor.
func checkID(w *writeContext, at *target, id string) {
	switch {
	case id == "":
	case at != nil:
		if id != at.id {
			w.addInvalid("id", "expected the id of the path, %s, got %.64q; leave it out, or use the path of the other resource", at.id, id)
		}
	case !isCanonicalUUID(id):
		w.addInvalid("id", "expected a UUID in lower case with its hyphens, got %.64q; leave it out to generate one", id)
	default:
		noun, err := store.NounOf(w.ctx, w.tx, id)
		switch {
		case w.fail(err) || noun == "":
		case noun == store.DeletedUser:
			w.addConflict("id", "the id %s belonged to a user who was deleted, and is never assigned again; leave it out to generate one", id)
		default:
			w.addConflict("id", "there is a resource (%s) with the id %s; choose another, or leave it out", noun, id)
		}
	}
}

// isCanonicalUUID reports whether an id is a UUID in its canonical spelling. Lookups would
// not find other spellings.
func isCanonicalUUID(id string) bool {
	parsed, err := uuid.Parse(id)
	return err == nil && parsed.String() == id
}

// apply writes v unless it is unchanged.
func (c *collection[T]) apply(w *writeContext, old, v *T, item **Item) error {
	m := c.meta(v)
	*m.created, *m.updated = w.now, w.now
	before := ""
	if old == nil {
		if *m.id == "" {
			*m.id = w.call.NewID()
		}
	} else {
		o := c.meta(old)
		*m.id, *m.created, *m.updated = *o.id, *o.created, nextUpdate(w.now, *o.updated)
		before = c.digest(old)
	}
	after := c.digest(v)
	if before == after && !w.secret {
		*m.updated = *c.meta(old).updated
		*item = c.item(v)
		return nil
	}
	if err := c.guard(w, old); err != nil {
		return err
	}
	if err := c.save(w, old, v); err != nil {
		return err
	}
	if c.changed != nil {
		if err := c.changed(w, old, v); err != nil {
			return err
		}
	}
	if err := c.touch(w, old, v); err != nil {
		return err
	}
	action := "replaced"
	if old == nil {
		action = "created"
	}
	w.recordEvent(c.noun, action, *m.id, before, after, c.changes(old, v)...)
	*item = c.item(v)
	return nil
}

// touch notes a change for the checks of the whole system.
func (c *collection[T]) touch(w *writeContext, old, v *T) error {
	if c.touched == nil {
		return nil
	}
	return c.touched(w, old, v)
}

// guard checks at the end of the transaction that an administrator remains. A new resource
// removes no permissions.
func (c *collection[T]) guard(w *writeContext, old *T) error {
	if !c.noun.administers || old == nil {
		return nil
	}
	return w.call.guard.begin(w.ctx, w.tx, w.now)
}

func (c *collection[T]) save(w *writeContext, old, v *T) error {
	if old == nil {
		return c.table.Insert(w.tx, v)
	}
	return c.table.Replace(w.tx, v, *c.meta(old).updated)
}

// nextUpdate returns now, or a time just after the last change: an entity tag must not
// repeat, even if the clock goes back.
func nextUpdate(now, last time.Time) time.Time {
	if now.After(last) {
		return now
	}
	return last.Add(time.Microsecond)
}

// Delete implements Resource.
func (c *collection[T]) Delete(ctx context.Context, call Call, id, match string) error {
	return c.transact(ctx, call, func(w *writeContext) error {
		old, err := c.target(w, &target{id, match})
		if err != nil {
			return err
		}
		c.remove(w, old)
		if err := w.err(c.noun); err != nil {
			return err
		}
		if err := c.guard(w, old); err != nil {
			return err
		}
		before := c.digest(old)
		if err := c.table.Delete(w.tx, id, *c.meta(old).updated); err != nil {
			return err
		}
		if err := c.touch(w, old, nil); err != nil {
			return err
		}
		w.recordEvent(c.noun, "deleted", id, before, "", c.changes(old, nil)...)
		return nil
	})
}

// digest returns a digest of a resource for the audit log.
func (c *collection[T]) digest(v *T) string { return c.d.digest(c.recorded(v)) }

// changes returns the members that differ, for the audit log. old or v is nil for a resource that
// does not exist.
func (c *collection[T]) changes(old, v *T) []schemas.MemberChange {
	return c.d.memberChanges(c.noun, c.recorded(old), c.recorded(v))
}

// recorded returns what the audit log covers of a resource: all but its times. Nil is nil.
func (c *collection[T]) recorded(v *T) any {
	if v == nil {
		return nil
	}
	copied := *v
	m := c.meta(&copied)
	*m.created, *m.updated = time.Time{}, time.Time{}
	if c.digested != nil {
		return c.digested(&copied)
	}
	return &copied
}
