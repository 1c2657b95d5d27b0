package directory

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// collection is a Resource stored as a table row, with the rules of its noun.
type collection[T any] struct {
	d     *Directory
	noun  Noun
	table *store.Table[T]
	meta  func(*T) meta

	// before reads what the rules depend on and what takes long to read, before the transaction of a
	// write. May be nil.
	before func(ctx context.Context) error
	// prepare does slow work that needs no transaction, such as hashing. The rules find its
	// result in writeContext.prepared; changes to v are discarded. It must accept an
	// invalid v. Nil if there is nothing to do.
	// At is nil for a new resource.
	prepare func(ctx context.Context, call Call, at *target, v *T) (any, error)
	// complete fills in missing members: defaults, and members of old that clients cannot
	// read. Old is nil for a new resource.
	complete func(w *writeContext, old, v *T)
	// check reports problems of v to w. It must accept a v without the members that the
	// schema requires: these are reported already.
	check func(w *writeContext, old, v *T)
	// changed runs after v was written. May be nil.
	changed func(w *writeContext, old, v *T) error
	// touched notes a change for the checks of the whole system, after v was written or, if v is nil,
	// old was deleted. May be nil.
	touched func(w *writeContext, old, v *T) error
	// remove runs before v is deleted and reports what prevents it.
	remove func(w *writeContext, v *T)
	// show removes members that are never shown. May be nil.
	show func(v *T)
	// digested returns what the audit log's digest covers, if that is not v itself. It must
	// not write into values that v shares. May be nil.
	digested func(v *T) any
}

// meta points to the members that every resource has.
type meta struct {
	id               *string
	created, updated *time.Time
}

// Noun implements Resource.
func (c *collection[T]) Noun() Noun { return c.noun }

// List implements Resource.
func (c *collection[T]) List(ctx context.Context, call Call, q Query) (*Page, error) {
	return list(ctx, c.d.reader(call), c.noun, q, c.table, c.item)
}

// lister is a table of the store.
type lister[T any] interface {
	List(ctx context.Context, r store.Reader, page store.Page) ([]T, error)
	Count(ctx context.Context, r store.Reader, page store.Page) (int, error)
}

// list returns a page of a table.
func list[T any](ctx context.Context, r store.Reader, n Noun, q Query, table lister[T], item func(*T) *Item) (*Page, error) {
	if err := n.checkFilter(q); err != nil {
		return nil, err
	}
	page := q.page()
	found, err := table.List(ctx, r, page)
	if err != nil {
		return nil, err
	}
	total, known := countShown(page, len(found))
	if !known {
		if total, err = table.Count(ctx, r, page); err != nil {
			return nil, err
		}
	}
	p := &Page{Total: total, Items: make([]Item, len(found))}
	for i := range found {
		p.Items[i] = *item(&found[i])
	}
	return p, nil
}

// countShown returns the number of resources in a list whose end a page of n shows.
func countShown(page store.Page, n int) (total int, known bool) {
	ends := n < page.Limit && (n > 0 || page.Offset == 0)
	return page.Offset + n, ends && page.After == "" && !page.Prefix
}

// page converts the query for the store.
func (q Query) page() store.Page {
	page := store.Page{After: q.After, Limit: q.Limit, Member: q.Filter, Value: q.Value, Prefix: q.Prefix}
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

// principals returns a page of the principals of the resource with the id. The ID of an item is the
// cursor of the page that follows it: "<type>/<id>".
func (c *collection[T]) principals(ctx context.Context, call Call, id string, q Query) (*Page, error) {
	page := store.PrincipalPage{Limit: q.Limit, Offset: q.Offset}
	if q.After != "" {
		kind, after, _ := strings.Cut(q.After, "/")
		page.After, page.Offset = schemas.Principal{Type: schemas.PrincipalType(kind), ID: after}, 0
	}
	found, total, err := c.table.Principals(ctx, c.d.reader(call), id, page)
	if err != nil {
		return nil, err
	}
	p := &Page{Total: total, Items: make([]Item, len(found))}
	for i, one := range found {
		p.Items[i] = Item{ID: string(one.Type) + "/" + one.ID, Value: one}
	}
	return p, nil
}

// item returns the resource without the members that are never shown.
func (c *collection[T]) item(v *T) *Item {
	m := c.meta(v)
	if c.show != nil {
		c.show(v)
	}
	return &Item{ID: *m.id, ETag: etag(*m.updated), Value: v}
}

// etag returns an entity tag that changes with each update.
func etag(updated time.Time) string {
	return `"` + strconv.FormatInt(updated.UnixMicro(), 36) + `"`
}

// matches reports whether an If-Match field value matches the tag. Weak tags never match
// (RFC 9110 §13.1.1).
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
		"The %s no longer matches If-Match. Read it again and apply the change to the current version.", n.displayName())
}
