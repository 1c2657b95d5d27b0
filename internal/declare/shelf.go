package declare

import (
	"context"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// shelves are the resources of a target that have been looked up, by noun.
type shelves struct {
	target Target
	nouns  map[string]*shelf // by plural
}

// shelf is what is known of one noun. Whole says that it is all there is.
type shelf struct {
	byID, byKey map[string]*Entry // nil: there is none
	whole       bool
}

func newShelves(target Target) *shelves { return &shelves{target, map[string]*shelf{}} }

func (s *shelves) of(n Noun) *shelf {
	if s.nouns[n.Plural] == nil {
		s.nouns[n.Plural] = &shelf{byID: map[string]*Entry{}, byKey: map[string]*Entry{}}
	}
	return s.nouns[n.Plural]
}

func (s *shelf) add(n Noun, e *Entry) {
	s.byID[e.ID] = e
	if key := n.keyOf(e.Document); key != "" {
		s.byKey[key] = e
	}
}

// fill puts in all there is of a noun.
func (s *shelves) fill(n Noun, all []*Entry) {
	shelf := s.of(n)
	shelf.whole = true
	for _, e := range all {
		shelf.add(n, e)
	}
}

// get returns the resource with the id, nil if there is none.
func (s *shelves) get(ctx context.Context, n Noun, id string) (*Entry, error) {
	shelf := s.of(n)
	if e, known := shelf.byID[id]; known || shelf.whole {
		return e, nil
	}
	e, err := s.target.Get(ctx, n, id)
	if err != nil {
		return nil, err
	}
	if shelf.byID[id] = e; e != nil {
		shelf.add(n, e)
	}
	return e, nil
}

// find returns the resource of the name, nil if there is none. That of a flow is
// one within its type.
func (s *shelves) find(ctx context.Context, n Noun, t schemas.FlowType, name string) (*Entry, error) {
	shelf, key := s.of(n), n.keyFor(t, name)
	if e, known := shelf.byKey[key]; known || shelf.whole || key == "" {
		return e, nil
	}
	list, err := s.target.List(ctx, n, name)
	if err != nil {
		return nil, err
	}
	shelf.byKey[key] = nil
	for _, e := range list {
		shelf.add(n, e)
	}
	return shelf.byKey[key], nil
}

// names lists what resources of a noun are called, as many as fit on a page.
func (s *shelves) names(ctx context.Context, n Noun) (names []string, err error) {
	list, err := s.target.List(ctx, n, "")
	for _, e := range list {
		names = append(names, n.label(e.Document))
	}
	return names, err
}

// sortedIDs lists the ids of the resources on a shelf.
func sortedIDs(s *shelf) (ids []string) {
	for id, e := range s.byID {
		if e != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
