package engine

import (
	"sort"
	"strings"
)

// Fact is something that is certain about a run on every path to a node.
type Fact string

// The facts about who a run is for.
//
// Own is what New and Authenticated have in common, and what binding a
// credential needs: the user was made by this run, or proved in this run who
// they are. It follows from either and is never declared.
const (
	User          Fact = "user"          // the run knows a user
	New           Fact = "new"           // this run creates the user
	Authenticated Fact = "authenticated" // the user proved in this run who they are
	Own           Fact = "own"           // New or Authenticated
	Credential    Fact = "credential"    // this run gave the user a passkey or password
)

// InputFact is the fact that the run holds a value for an input.
func InputFact(identifier string) Fact { return Fact("input." + identifier) }

// Input returns the identifier of an input fact, and whether it is one.
func (f Fact) Input() (string, bool) { return strings.CutPrefix(string(f), "input.") }

// Facts is a set of facts. The zero value is not usable; nil means "nothing
// has been said yet", which the analysis treats as everything.
type Facts map[Fact]struct{}

// NewFacts returns a set of the given facts, closed under what they imply.
func NewFacts(facts ...Fact) Facts {
	s := make(Facts, len(facts)+2)
	s.add(facts...)
	return s
}

// Has reports whether the fact is in the set.
func (s Facts) Has(f Fact) bool { _, ok := s[f]; return ok }

// HasAny reports whether any of the facts is in the set.
func (s Facts) HasAny(facts []Fact) bool {
	for _, f := range facts {
		if s.Has(f) {
			return true
		}
	}
	return false
}

// List returns the facts, sorted.
func (s Facts) List() []Fact {
	list := make([]Fact, 0, len(s))
	for f := range s {
		list = append(list, f)
	}
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
	return list
}

func (s Facts) add(facts ...Fact) {
	for _, f := range facts {
		s[f] = struct{}{}
		switch f {
		case New, Authenticated:
			s[Own], s[User] = struct{}{}, struct{}{}
		}
	}
}

// meet intersects s with t in place and reports whether s shrank.
func (s Facts) meet(t Facts) bool {
	shrank := false
	for f := range s {
		if !t.Has(f) {
			delete(s, f)
			shrank = true
		}
	}
	return shrank
}

// after returns what holds when a node entered with s is left by o. It is
// monotone: more facts before never mean fewer after. The analysis relies on
// that to terminate, and the engine uses the same function while it runs.
func (s Facts) after(o Outcome) Facts {
	next := make(Facts, len(s)+len(o.Establishes))
	for f := range s {
		next[f] = struct{}{}
	}
	if o.NewSubject {
		for _, f := range []Fact{User, New, Authenticated, Own, Credential} {
			delete(next, f)
		}
	}
	if o.ForgetsClaim && !s.Has(Own) {
		delete(next, User)
	}
	for _, f := range o.Forgets {
		delete(next, f)
	}
	if s.Has(Own) {
		next.add(o.EstablishesForOwn...)
	}
	next.add(o.Establishes...)
	return next
}
