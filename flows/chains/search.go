package chains

import "slices"

// accounts lists what the attacker can start from with these means: the means, and each
// consistent set of conditions of the victim's account.
func (a *analysis) accounts(m Means) (list []itemSet) {
	for choice := range 5 { // four accounts with a credential, and one without
		app, codes := choice&1 != 0, choice&2 != 0
		has := itemSet{}
		for _, k := range []struct {
			kind kind
			has  bool
		}{
			{aMailbox, m.Mailbox}, {noAddress, !m.Mailbox}, {aPassword, m.Password}, {manager, m.Manager},
			{noApp, !app}, {hasApp, app}, {noCodes, !codes}, {hasCodes, codes}, {invited, choice == 4},
		} {
			if k.has {
				has = has.with(a.initial(k.kind))
			}
		}
		list = append(list, has)
	}
	return list
}

// initial returns the index of a means or condition. They come first: see analyze.
func (a *analysis) initial(k kind) int {
	return slices.IndexFunc(a.items, func(i item) bool { return i.kind == k })
}

// place is a set of items, and the steps that led to it.
type place struct {
	has   itemSet
	steps []int
}

// reach calls found for each step that an attacker can take, with the fewest runs first: a
// breadth-first search over sets of items. A set that is within another one of no more runs leads
// nowhere else.
func (a *analysis) reach(from itemSet, found func(last int, runs []int)) {
	possible := a.possible(from)
	taken := make([]bool, len(a.steps))
	left := len(possible)
	seen := []itemSet{from}
	for layer := []place{{has: from}}; left > 0; {
		var next []place
		for _, p := range layer {
			for _, i := range possible {
				s := &a.steps[i]
				if !s.used.within(p.has) {
					continue
				}
				runs := append(slices.Clone(p.steps), i)
				if !taken[i] {
					taken[i], left = true, left-1
					found(i, runs)
				}
				if has := p.has.union(s.gains); has != p.has {
					next = append(next, place{has, runs})
				}
			}
		}
		layer = nil
		for _, p := range next {
			if !slices.ContainsFunc(seen, func(has itemSet) bool { return p.has.within(has) }) {
				seen, layer = append(seen, p.has), append(layer, p)
			}
		}
	}
}

// possible lists the steps that an attacker can take at some time.
func (a *analysis) possible(has itemSet) (list []int) {
	for grown := true; grown; {
		grown, list = false, nil
		for i := range a.steps {
			if s := &a.steps[i]; s.used.within(has) {
				list = append(list, i)
				grown = grown || !s.gains.within(has)
				has = has.union(s.gains)
			}
		}
	}
	return list
}
