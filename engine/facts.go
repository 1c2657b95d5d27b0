package engine

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/postern-id/postern/schemas"
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
	Credential    Fact = "credential"    // this run gave the user a passkey, a password or a second factor
	Enrolled      Fact = "enrolled"      // this run gave the user a second factor
	Findable      Fact = "findable"      // the user whom this run creates can be found again
	Federated     Fact = "federated"     // the run holds an identity that the person has with another provider
	Consented     Fact = "consented"     // the user lets the application have what it asks for, or need not be asked
)

// InputFact is the fact that the run holds a value for an input.
func InputFact(identifier string) Fact { return Fact("input." + identifier) }

// Input returns the identifier of an input fact, and whether it is one.
func (f Fact) Input() (string, bool) { return strings.CutPrefix(string(f), "input.") }

// ACRFacts are the facts that the user authenticated by a class, or by one that
// satisfies it (OpenID Connect Core §2, acr). Each is about a plain class, and implies
// those that this one satisfies. A class is known by its plain classes, so the facts
// that two paths have in common are exactly what is certain after both.
func ACRFacts(class string) []Fact {
	var facts []Fact
	plain := schemas.PlainACRs(class)
	for i, one := range plain {
		implied := func(other string) bool { return schemas.Satisfies(other, one) }
		if !slices.ContainsFunc(plain[i+1:], implied) {
			facts = append(facts, acrFact(one))
		}
	}
	return facts
}

func acrFact(plain string) Fact { return Fact("acr." + plain) }

// HasACR reports whether it is certain that the user authenticated by the class, or
// by one that satisfies it.
func (s Facts) HasACR(class string) bool {
	return !slices.ContainsFunc(ACRFacts(class), func(f Fact) bool { return !s.Has(f) })
}

// ACR returns the strongest class of which it is certain that the user authenticated
// by it; "" for none.
func (s Facts) ACR() string {
	var classes []string
	for f := range s {
		if class, ok := f.class(); ok {
			classes = append(classes, class)
		}
	}
	return schemas.CombineACRs(classes...)
}

// IsAuthenticationDetail reports whether the fact is about how the user authenticated.
func (f Fact) IsAuthenticationDetail() bool { return isClass(f) || isMethod(f) }

// AMRFact is the fact that the user authenticated by the method, be it among
// others (OpenID Connect Core §2, amr; RFC 8176).
func AMRFact(method string) Fact { return Fact("amr." + method) }

// class returns the class that a fact of ACRFacts is about, and whether it is one.
func (f Fact) class() (string, bool) { return strings.CutPrefix(string(f), "acr.") }

// method returns the method of an AMRFact, and whether it is one.
func (f Fact) method() (string, bool) { return strings.CutPrefix(string(f), "amr.") }

// ClaimFact is the fact that the user was merely named, by an input: whoever
// typed it may be somebody else.
func ClaimFact(identifier string) Fact { return Fact("claim." + identifier) }

// claim returns the input a claim fact is about, and whether it is one.
func (f Fact) claim() (string, bool) { return strings.CutPrefix(string(f), "claim.") }

// Facts is a set of facts. The zero value is not usable; nil means "nothing
// has been said yet", which the analysis treats as everything.
type Facts map[Fact]struct{}

// NewFacts returns a set of the given facts, closed under what they imply.
func NewFacts(facts ...Fact) Facts {
	s := make(Facts, len(facts)+2)
	s.add(facts...)
	return s
}

// anyInput stands for the facts of all inputs and replies, after a node that could not
// be understood and may have collected any. It only lives while a flow is checked.
const anyInput Fact = "input.*"

// collected reports whether the fact is one of those that anyInput stands for.
func (f Fact) collected() bool { return isInput(f) || isReply(f) }

// Has reports whether the fact is in the set.
func (s Facts) Has(f Fact) bool {
	_, ok := s[f]
	if !ok && f.collected() {
		_, ok = s[anyInput]
	}
	return ok
}

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
		case Own:
			s[User] = struct{}{}
		}
		if class, ok := f.class(); ok {
			for _, weaker := range schemas.PlainACRs(class) {
				s[acrFact(weaker)] = struct{}{}
			}
		}
	}
}

// meet intersects s with t in place and reports whether s shrank.
func (s Facts) meet(t Facts) bool {
	shrank := false
	if s.Has(anyInput) && !t.Has(anyInput) {
		delete(s, anyInput)
		shrank = true
		for f := range t {
			if f.collected() {
				s[f] = struct{}{}
			}
		}
	}
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
		if o.NewSubject && f.aboutSubject() {
			continue
		}
		next[f] = struct{}{}
	}
	if s.claimWithdrawn(o.Withdraws) {
		maps.DeleteFunc(next, func(f Fact, _ struct{}) bool { return f == User || isUserReply(f) })
	}
	for _, f := range o.Forgets {
		delete(next, f)
	}
	for _, input := range o.Withdraws {
		delete(next, InputFact(input))
		delete(next, ClaimFact(input))
	}
	var also []Fact
	for given, facts := range o.EstablishesGiven {
		if next.Has(given) {
			also = append(also, facts...)
		}
	}
	next.add(also...)
	next.add(o.Establishes...)
	return next
}

// aboutSubject reports whether the fact is about the run's user.
func (f Fact) aboutSubject() bool {
	switch f {
	case User, New, Authenticated, Own, Credential, Enrolled, Findable, Consented, resumed:
		return true
	}
	_, claim := f.claim()
	_, class := f.class()
	_, method := f.method()
	return claim || class || method || isUserReply(f)
}

// claimWithdrawn reports whether the inputs taken back may be what named the
// user. It errs towards yes: only a user who is the run's own, or who is
// certain to have been named by another input, stays.
func (s Facts) claimWithdrawn(inputs []string) bool {
	if len(inputs) == 0 || s.Has(Own) {
		return false
	}
	for f := range s {
		if input, ok := f.claim(); ok && !slices.Contains(inputs, input) {
			return false
		}
	}
	return true
}
