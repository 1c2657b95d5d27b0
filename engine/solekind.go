package engine

import (
	"slices"

	"github.com/postern-id/postern/schemas"
)

// SignsInBy reports whether a client can complete the flow by one proof of the item as the only one
// that authenticates, and whether the authentication is what that node and the flow promise. It
// answers for runs elsewhere, which did nothing but that. So a way does not count if an earlier or
// later node decides by a condition, adds something to the user, or is of a kind without Open.
func (g *Graph) SignsInBy(by Item, auth *Authentication) bool {
	if !auth.proves(g.guarantees) || !auth.proves(g.flow.Guarantees) {
		return false
	}
	type place struct {
		node          int
		authenticated bool
	}
	seen := map[place]bool{}
	var completes func(at place) bool
	completes = func(at place) bool {
		if at.node < 0 || seen[at] || !g.nodes[at.node].kind.Open {
			return false
		}
		seen[at] = true
		n := &g.nodes[at.node]
		if n.kind.Terminal {
			return at.authenticated
		}
		return slices.ContainsFunc(n.edges, func(e edge) bool {
			next := place{e.target, at.authenticated && !e.NewSubject}
			if slices.Contains(e.Establishes, Authenticated) {
				if e.effect.Proves != by || !auth.has(e.Establishes) {
					return false
				}
				next.authenticated = true
			}
			return completes(next)
		})
	}
	return completes(place{node: 0})
}

// proves reports whether an authentication has the class and the methods of guarantees.
func (a *Authentication) proves(g schemas.Guarantees) bool {
	facts := ACRFacts(g.Class())
	for _, method := range g.Methods() {
		facts = append(facts, AMRFact(method))
	}
	return a.has(facts)
}

// has reports whether the details of an authentication among facts are true of it.
func (a *Authentication) has(facts []Fact) bool {
	return !slices.ContainsFunc(facts, func(f Fact) bool {
		sort, name := f.split()
		switch sort {
		case acrSort:
			return !schemas.Satisfies(a.ACR, name)
		case amrSort:
			return !slices.Contains(a.Methods, name)
		}
		return false
	})
}
