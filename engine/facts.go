package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Fact is a statement that is certain about a run on every path to a node.
type Fact string

// The facts about the user of a run.
//
// Own follows from New and from Authenticated and is never declared. Binding a credential needs
// it: the run created the user, or the user authenticated in the run.
const (
	User          Fact = "user"          // the run knows a user
	New           Fact = "new"           // this run creates the user
	Authenticated Fact = "authenticated" // the user authenticated in this run
	Own           Fact = "own"           // New or Authenticated
	Credential    Fact = "credential"    // this run gave the user a passkey, a password or a second factor
	Enrolled      Fact = "enrolled"      // this run gave the user a second factor
	Findable      Fact = "findable"      // the user that this run creates can be found again
	Federated     Fact = "federated"     // the run has an identity that the person proved at another provider
	Consented     Fact = "consented"     // the user granted the application what it asks for, or no consent is needed
)

// factSort is the kind of a fact with a name: the part before the dot.
type factSort string

const (
	inputSort     factSort = "input"      // an input with a value
	acrSort       factSort = "acr"        // a class of an authentication
	amrSort       factSort = "amr"        // a method of an authentication
	claimSort     factSort = "claim"      // the input that merely identified the user
	attributeSort factSort = "attribute"  // an attribute that the user has
	replySort     factSort = "reply"      // a reply of a service
	userReplySort factSort = "user-reply" // a reply of a service about the run's user
)

func (s factSort) fact(name string) Fact { return Fact(string(s) + "." + name) }

// includes reports whether the fact is of the sort.
func (s factSort) includes(f Fact) bool {
	rest, found := strings.CutPrefix(string(f), string(s))
	return found && (rest == "" || rest[0] == '.')
}

// split returns the sort and the name of a fact, "" for the facts without.
func (f Fact) split() (factSort, string) {
	sort, name, _ := strings.Cut(string(f), ".")
	return factSort(sort), name
}

// InputFact is the fact that the run has a value for an input.
func InputFact(identifier string) Fact { return inputSort.fact(identifier) }

// Input returns the identifier of an input fact, and whether f is one.
func (f Fact) Input() (string, bool) {
	sort, identifier := f.split()
	return identifier, sort == inputSort
}

// AttributeFact is the fact that the run's user has a value for an attribute or, with further names,
// for a member of one. It contains the names as they follow user.attributes in an expression.
func AttributeFact(names ...string) Fact {
	var path strings.Builder
	for _, name := range names {
		switch {
		case !plainName.MatchString(name):
			fmt.Fprintf(&path, "[%q]", name)
		case path.Len() > 0:
			path.WriteString("." + name)
		default:
			path.WriteString(name)
		}
	}
	return attributeSort.fact(path.String())
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ACRFacts returns the facts that the user authenticated with a class or a class that satisfies
// it (OpenID Connect Core §2, acr). Each fact is about a plain class and implies the plain
// classes that it satisfies. A class is the set of its plain classes, so the intersection of the
// facts of two paths is exactly what is certain after both.
func ACRFacts(class string) []Fact {
	var facts []Fact
	plain := schemas.PlainACRs(class)
	for i, one := range plain {
		implied := func(other string) bool { return schemas.Satisfies(other, one) }
		if !slices.ContainsFunc(plain[i+1:], implied) {
			facts = append(facts, acrSort.fact(one))
		}
	}
	return facts
}

// ACR returns the strongest class that the user certainly authenticated with, or "".
func (s Facts) ACR() string {
	var classes []string
	for _, f := range s {
		if sort, class := f.split(); sort == acrSort {
			classes = append(classes, class)
		}
	}
	return schemas.CombineACRs(classes...)
}

// IsAuthenticationDetail reports whether the fact is about the method or class of an
// authentication.
func (f Fact) IsAuthenticationDetail() bool { return acrSort.includes(f) || amrSort.includes(f) }

// AMRFact is the fact that the user authenticated by the method, possibly among others (OpenID
// Connect Core §2, amr; RFC 8176).
func AMRFact(method string) Fact { return amrSort.fact(method) }

// ClaimFact is the fact that an input merely identified the user. The person who typed it may be
// another one.
func ClaimFact(identifier string) Fact { return claimSort.fact(identifier) }

// Facts is a set of facts: sorted, and never changed. Nil means "not analyzed yet", which the analysis
// treats as every fact.
type Facts []Fact

// NewFacts returns the given facts and all facts that they imply.
func NewFacts(facts ...Fact) Facts { return make(Facts, 0, len(facts)).with(facts...) }

// anyInput stands for the facts of all inputs, replies and attributes, after an invalid node that may
// have collected any. It exists only during a check.
const anyInput Fact = "input.*"

// collected reports whether anyInput stands for the fact.
func (f Fact) collected() bool {
	switch sort, _ := f.split(); sort {
	case inputSort, replySort, userReplySort, attributeSort:
		return true
	}
	return false
}

// Has reports whether the fact is in the set.
func (s Facts) Has(f Fact) bool { return s.contains(f) || f.collected() && s.contains(anyInput) }

func (s Facts) contains(f Fact) bool {
	_, ok := slices.BinarySearch(s, f)
	return ok
}

// of returns the facts of a sort, which follow each other.
func (s Facts) of(sort factSort) Facts {
	first, _ := slices.BinarySearch(s, Fact(sort))
	last := first
	for last < len(s) && sort.includes(s[last]) {
		last++
	}
	return s[first:last]
}

// HasAny reports whether any of the facts is in the set.
func (s Facts) HasAny(facts []Fact) bool {
	return slices.ContainsFunc(facts, s.Has)
}

// with returns s with the given facts and all facts that they imply.
func (s Facts) with(facts ...Fact) Facts {
	var added []Fact
	add := func(all ...Fact) {
		for _, f := range all {
			if !s.contains(f) && !slices.Contains(added, f) {
				added = append(added, f)
			}
		}
	}
	for _, f := range facts {
		add(f)
		switch f {
		case New, Authenticated:
			add(Own, User)
		case Own:
			add(User)
		}
		if sort, class := f.split(); sort == acrSort {
			for _, weaker := range schemas.PlainACRs(class) {
				add(acrSort.fact(weaker))
			}
		}
	}
	return s.union(added)
}

// union returns the facts of s and t, which are disjoint. Only s is sorted.
func (s Facts) union(t []Fact) Facts {
	if len(t) == 0 {
		return s
	}
	all := slices.Grow(slices.Clone(s), len(t))
	for _, f := range t {
		i, _ := slices.BinarySearch(all, f)
		all = slices.Insert(all, i, f)
	}
	return all
}

// Union returns the facts of both sets.
func (s Facts) Union(t Facts) Facts { return s.union(t.without(s.contains)) }

// without returns s without the facts that satisfy the condition.
func (s Facts) without(condition func(Fact) bool) Facts {
	if !slices.ContainsFunc(s, condition) {
		return s
	}
	return slices.DeleteFunc(slices.Clone(s), condition)
}

// Intersect returns the facts that are in both sets. It is s if t has all of its facts.
func (s Facts) Intersect(t Facts) Facts {
	if s.contains(anyInput) && !t.contains(anyInput) {
		s = s.without(func(f Fact) bool { return f == anyInput })
		s = s.Union(t.without(func(f Fact) bool { return !f.collected() }))
	}
	if t.contains(anyInput) {
		return s.without(func(f Fact) bool { return !t.Has(f) })
	}
	common, next := s, 0 // next is the place in t; both are sorted
	for i, f := range s {
		for next < len(t) && t[next] != f && t[next] < f {
			next++
		}
		switch {
		case next == len(t) || t[next] != f:
			if len(common) == len(s) {
				common = slices.Clone(s[:i])
			}
		case len(common) < len(s):
			common = append(common, f)
		}
	}
	return common
}

// after returns the facts that hold when a run that entered a node with s leaves it by o. It is
// monotone: more facts before never mean fewer after. The termination of the analysis depends on
// that. The engine uses the same function at run time.
func (s Facts) after(o Outcome) Facts {
	next := s
	if o.NewSubject {
		next = next.without(Fact.aboutSubject)
	}
	if s.claimWithdrawn(o.Withdraws) && (next.contains(User) || len(next.of(userReplySort))+len(next.of(attributeSort)) > 0) {
		next = next.without(Fact.aboutIdentified)
	}
	forgotten := o.Forgets
	for _, input := range o.Withdraws {
		forgotten = append(slices.Clip(forgotten), InputFact(input), ClaimFact(input))
	}
	if slices.ContainsFunc(forgotten, next.contains) {
		next = next.without(func(f Fact) bool { return slices.Contains(forgotten, f) })
	}
	var also []Fact
	for given, facts := range o.EstablishesGiven {
		if next.Has(given) {
			also = append(also, facts...)
		}
	}
	return next.with(also...).with(o.Establishes...)
}

// aboutIdentified reports whether the fact can hold of a user who is merely identified, and ends with
// the input that identified them.
func (f Fact) aboutIdentified() bool {
	return f == User || userReplySort.includes(f) || attributeSort.includes(f)
}

// aboutSubject reports whether the fact is about the run's user.
func (f Fact) aboutSubject() bool {
	switch f {
	case User, New, Authenticated, Own, Credential, Enrolled, Findable, Consented, resumed:
		return true
	}
	switch sort, _ := f.split(); sort {
	case claimSort, acrSort, amrSort, userReplySort, attributeSort:
		return true
	}
	return false
}

// claimWithdrawn reports whether the withdrawn inputs may have identified the user. It errs
// towards yes: only a user who is the run's own, or who was certainly identified by another
// input, stays.
func (s Facts) claimWithdrawn(inputs []string) bool {
	if len(inputs) == 0 || s.Has(Own) {
		return false
	}
	for _, f := range s.of(claimSort) {
		if _, input := f.split(); !slices.Contains(inputs, input) {
			return false
		}
	}
	return true
}
