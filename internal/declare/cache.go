package declare

import (
	"context"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// resourceCache caches the resources of a target by noun.
type resourceCache struct {
	target Target
	nouns  map[string]*resourceSet // by plural
}

// resourceSet is the cached resources of a noun. Complete reports that these are all.
type resourceSet struct {
	byID, byKey map[string]*Entry // nil: does not exist
	complete    bool
}

func newResourceCache(target Target) *resourceCache {
	return &resourceCache{target, map[string]*resourceSet{}}
}

func (s *resourceCache) setOf(n Noun) *resourceSet {
	if s.nouns[n.Plural] == nil {
		s.nouns[n.Plural] = &resourceSet{byID: map[string]*Entry{}, byKey: map[string]*Entry{}}
	}
	return s.nouns[n.Plural]
}

func (s *resourceSet) add(n Noun, e *Entry) {
	s.byID[e.ID] = e
	if key := n.keyOf(e.Document); key != "" {
		s.byKey[key] = e
	}
}

// fill caches all resources of a noun.
func (s *resourceCache) fill(n Noun, all []*Entry) {
	set := s.setOf(n)
	set.complete = true
	for _, e := range all {
		set.add(n, e)
	}
}

// get returns the resource with the id, nil if there is none.
func (s *resourceCache) get(ctx context.Context, n Noun, id string) (*Entry, error) {
	set := s.setOf(n)
	if e, known := set.byID[id]; known || set.complete {
		return e, nil
	}
	e, err := s.target.Get(ctx, n, id)
	if err != nil {
		return nil, err
	}
	if set.byID[id] = e; e != nil {
		set.add(n, e)
	}
	return e, nil
}

// find returns the resource with the name, nil if there is none. Flow names are unique
// within their type.
func (s *resourceCache) find(ctx context.Context, n Noun, t schemas.FlowType, name string) (*Entry, error) {
	set, key := s.setOf(n), n.keyFor(t, name)
	if e, known := set.byKey[key]; known || set.complete || key == "" {
		return e, nil
	}
	list, err := s.target.List(ctx, n, name)
	if err != nil {
		return nil, err
	}
	set.byKey[key] = nil
	for _, e := range list {
		set.add(n, e)
	}
	return set.byKey[key], nil
}

// names returns the names of the first page of resources of a noun.
func (s *resourceCache) names(ctx context.Context, n Noun) (names []string, err error) {
	list, err := s.target.List(ctx, n, "")
	for _, e := range list {
		names = append(names, n.label(e.Document))
	}
	return names, err
}

// sortedIDs returns the ids of the cached resources.
func sortedIDs(s *resourceSet) (ids []string) {
	for id, e := range s.byID {
		if e != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
