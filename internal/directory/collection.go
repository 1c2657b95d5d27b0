package directory

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// collection is a Resource that is a row, with what belongs to it alone.
type collection[T any] struct {
	d     *Directory
	noun  Noun
	table *store.Table[T]
	meta  func(*T) meta

	// prepare does what takes long and needs no transaction, such as hashing. What
	// it returns is work.prepared to the rules; what it writes into v is lost. It
	// must bear a v that is not valid. Nil if there is nothing to do.
	prepare func(ctx context.Context, v *T) (any, error)
	// complete fills in what v leaves open: defaults, and from old what cannot be
	// read. Old is nil when v is new.
	complete func(w *writeContext, old, v *T) error
	// check notes in w what is wrong with v. It must bear a v of which members are
	// missing that the schema requires: those are noted already.
	check func(w *writeContext, old, v *T) error
	// changed is called when v has been written. Nil if nothing follows from that.
	changed func(w *writeContext, old, v *T) error
	// remove is called before v is deleted, and notes why it cannot be.
	remove func(w *writeContext, v *T) error
	// show takes from v what is never shown. Nil if all is.
	show func(v *T)
	// digested is what the audit log's digest is made of, for what JSON alone does
	// not say. Nil if it does. It must not write into what v shares with others.
	digested func(v *T) any
}

// meta points to what every resource has.
type meta struct {
	id               *string
	created, updated *time.Time
}

// Noun implements Resource.
func (c *collection[T]) Noun() Noun { return c.noun }

// List implements Resource.
func (c *collection[T]) List(ctx context.Context, call Call, q Query) (*Page, error) {
	if err := c.noun.checkFilter(q); err != nil {
		return nil, err
	}
	r := c.d.reader(call)
	page := q.page()
	found, err := c.table.List(ctx, r, page)
	if err != nil {
		return nil, err
	}
	total, err := c.table.Count(ctx, r, page)
	if err != nil {
		return nil, err
	}
	p := &Page{Total: total, Items: make([]Item, len(found))}
	for i := range found {
		p.Items[i] = *c.item(&found[i])
	}
	return p, nil
}

// page is the query as the store takes it.
func (q Query) page() store.Page {
	page := store.Page{After: q.After, Limit: q.Limit, Member: q.Filter, Value: q.Value}
	if q.After == "" {
		page.Offset = q.Offset
	}
	return page
}

// Get implements Resource.
func (c *collection[T]) Get(ctx context.Context, call Call, id string) (*Item, error) {
	v, err := c.table.Get(ctx, c.d.reader(call), id)
	if err != nil {
		return nil, err
	}
	return c.item(v), nil
}

// Find implements Resource.
func (c *collection[T]) Find(ctx context.Context, call Call, key string) (*Item, error) {
	if c.noun.Key == "" {
		return nil, nil
	}
	v, err := c.table.Find(ctx, c.d.reader(call), c.noun.Key, key)
	if err != nil || v == nil {
		return nil, err
	}
	return c.item(v), nil
}

// item is the resource as it may be shown.
func (c *collection[T]) item(v *T) *Item {
	m := c.meta(v)
	if c.show != nil {
		c.show(v)
	}
	return &Item{ID: *m.id, ETag: etag(*m.updated), Value: v}
}

// etag tells the states of a resource apart by when it got there.
func etag(updated time.Time) string {
	return `"` + strconv.FormatInt(updated.UnixMicro(), 36) + `"`
}

// matches reports whether an If-Match field value allows a change of what has
// the tag. Weak tags never do: RFC 9110 §13.1.1.
func matches(field, tag string) bool {
	if field == "" || strings.TrimSpace(field) == "*" {
		return true
	}
	for one := range strings.SplitSeq(field, ",") {
		if strings.TrimSpace(one) == tag {
			return true
		}
	}
	return false
}

func (n Noun) errMatch() error {
	return schemas.Errorf(schemas.Precondition, schemas.CodePreconditionFailed,
		"The %s is no longer as If-Match expects it. Read it again, and make the change to what it is now.", n.displayName())
}
