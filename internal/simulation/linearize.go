package simulation

import (
	"fmt"
	"slices"
	"strings"
)

// Call is a request and its reply. Start and End order calls: a call takes effect at one moment
// between them.
type Call[C any] struct {
	Start, End int
	Of         C
}

// maxCalls bounds the calls that are checked together.
const maxCalls = 64

// Linearize returns all states in which the calls can have left an object that was in one of the
// states before, if each call took effect at one moment between its start and its end (Herlihy and
// Wing, "Linearizability", 1990). No state means that the replies contradict the model.
//
// step returns the states in which a call can leave a state with the reply that was received:
// none if the reply is impossible in it, and several if the reply was lost. key identifies equal
// states.
func Linearize[S, C any](states []S, calls []Call[C], step func(S, C) []S, key func(S) string) ([]S, error) {
	if len(calls) > maxCalls {
		return nil, fmt.Errorf("simulation: %d calls at once, expected at most %d", len(calls), maxCalls)
	}
	front := map[uint64][]S{0: states} // by the set of calls that took effect
	for range calls {
		next := map[uint64]*stateSet[S]{}
		for done, states := range front {
			for i, call := range calls {
				if done&(1<<i) != 0 || !mayBeNext(calls, done, i) {
					continue
				}
				for _, s := range states {
					for _, after := range step(s, call.Of) {
						into := next[done|1<<i]
						if into == nil {
							into = &stateSet[S]{keys: map[string]bool{}}
							next[done|1<<i] = into
						}
						into.add(after, key)
					}
				}
			}
		}
		front = map[uint64][]S{}
		for done, set := range next {
			front[done] = set.states
		}
	}
	set := stateSet[S]{keys: map[string]bool{}}
	for _, states := range front {
		for _, s := range states {
			set.add(s, key)
		}
	}
	slices.SortFunc(set.states, func(a, b S) int { return strings.Compare(key(a), key(b)) })
	return set.states, nil
}

// mayBeNext reports whether no call that has not taken effect ended before call i started.
func mayBeNext[C any](calls []Call[C], done uint64, i int) bool {
	for k, other := range calls {
		if k != i && done&(1<<k) == 0 && other.End < calls[i].Start {
			return false
		}
	}
	return true
}

// stateSet is a set of states.
type stateSet[S any] struct {
	keys   map[string]bool
	states []S
}

func (t *stateSet[S]) add(s S, key func(S) string) {
	if k := key(s); !t.keys[k] {
		t.keys[k] = true
		t.states = append(t.states, s)
	}
}
