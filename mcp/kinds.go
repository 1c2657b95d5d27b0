package mcp

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
)

// catalog describes the kinds of nodes and the facts for authors of flows.
type catalog struct {
	Facts map[engine.Fact]string `json:"facts"`
	Kinds []kindEntry            `json:"kinds"`
}

// kindEntry is a kind of node. With is the JSON Schema of its configuration, nil if it takes none.
type kindEntry struct {
	Name     string          `json:"name"`
	Doc      string          `json:"doc"`
	Asks     bool            `json:"asks"`
	Terminal bool            `json:"terminal,omitempty"`
	Needs    []needEntry     `json:"needs,omitempty"`
	Outcomes []outcomeEntry  `json:"outcomes,omitempty"`
	With     json.RawMessage `json:"with,omitempty"`
}

// needEntry is a requirement of the kind: one of the facts must be certain on every path to a node.
type needEntry struct {
	AnyOf []engine.Fact `json:"anyOf"`
	Why   string        `json:"why,omitempty"`
	Fix   string        `json:"mend,omitempty"`
}

// outcomeEntry is an outcome with the facts that are certain afterwards.
type outcomeEntry struct {
	Name        string                        `json:"name"`
	Doc         string                        `json:"doc,omitempty"`
	Optional    bool                          `json:"optional,omitempty"`
	Establishes []engine.Fact                 `json:"establishes,omitempty"`
	Given       map[engine.Fact][]engine.Fact `json:"establishesGiven,omitempty"`
	NewSubject  bool                          `json:"newSubject,omitempty"`
}

func catalogOf(kinds engine.Kinds) catalog {
	c := catalog{Facts: map[engine.Fact]string{}}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		e := entryOf(kinds[name])
		c.Kinds = append(c.Kinds, e)
		for _, n := range e.Needs {
			c.explain(n.AnyOf)
		}
		for _, o := range e.Outcomes {
			c.explain(o.Establishes)
			for given, facts := range o.Given {
				c.explain(slices.Concat(facts, []engine.Fact{given}))
			}
		}
	}
	return c
}

// explain adds the meaning of facts.
func (c *catalog) explain(facts []engine.Fact) {
	for _, f := range facts {
		c.Facts[f] = f.Describe()
	}
}

func entryOf(k *engine.Kind) kindEntry {
	e := kindEntry{Name: k.Name, Doc: k.Doc, Asks: k.Asks, Terminal: k.Terminal}
	if k.With != nil {
		e.With = k.With.Raw()
	}
	for _, n := range k.Needs {
		e.Needs = append(e.Needs, needEntry{n.AnyOf, n.Why, n.Fix})
	}
	for _, o := range k.Outcomes {
		e.Outcomes = append(e.Outcomes, outcomeEntry{o.Name(), o.Doc, o.Optional, o.Establishes, o.EstablishesGiven, o.NewSubject})
	}
	return e
}
