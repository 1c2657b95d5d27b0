package declare

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// resourceCache caches the resources of a target.
type resourceCache struct {
	target   Target
	entries  map[string]*Entry // by the keys of their nouns; nil: does not exist
	complete map[string]bool   // the plurals of nouns with all their resources cached
}

func newResourceCache(target Target) *resourceCache {
	return &resourceCache{target, map[string]*Entry{}, map[string]bool{}}
}

func (c *resourceCache) add(n Noun, list ...*Entry) {
	for _, e := range list {
		for _, key := range n.keys(e.ID, e.Document) {
			c.entries[key] = e
		}
	}
}

// fill caches all resources of a noun.
func (c *resourceCache) fill(n Noun, all []*Entry) {
	c.complete[n.Plural] = true
	c.add(n, all...)
}

// lookUp returns the resource with the id, otherwise the one with the name; nil if there is
// none. Flow names are unique within their type.
func (c *resourceCache) lookUp(ctx context.Context, n Noun, id string, t schemas.FlowType, name string) (*Entry, error) {
	if id != "" {
		if e, err := c.get(ctx, n, id); e != nil || err != nil {
			return e, err
		}
	}
	return c.read(n, n.nameKey(t, name), func() ([]*Entry, error) { return c.target.List(ctx, n, name) })
}

// get returns the resource with the id, nil if there is none.
func (c *resourceCache) get(ctx context.Context, n Noun, id string) (*Entry, error) {
	return c.read(n, n.idKey(id), func() ([]*Entry, error) {
		e, err := c.target.Get(ctx, n, id)
		if e == nil {
			return nil, err
		}
		return []*Entry{e}, err
	})
}

// read returns the resource with the key, which request reads unless it is known whether
// there is one.
func (c *resourceCache) read(n Noun, key string, request func() ([]*Entry, error)) (*Entry, error) {
	if e, known := c.entries[key]; known || c.complete[n.Plural] || key == "" {
		return e, nil
	}
	found, err := request()
	if err != nil {
		return nil, err
	}
	c.entries[key] = nil
	c.add(n, found...)
	return c.entries[key], nil
}
