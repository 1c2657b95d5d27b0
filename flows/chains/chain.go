package chains

import (
	"fmt"
	"slices"
	"strings"
)

// chain returns runs that lead to a run, in their order, without those that it can do without.
func chain(to *run) []*run {
	var list []*run
	seen := map[*run]bool{}
	var visit func(r *run)
	visit = func(r *run) {
		if seen[r] {
			return
		}
		seen[r] = true
		for _, h := range r.allUses() {
			if h.from != nil {
				visit(h.from)
			}
		}
		list = append(list, r)
	}
	visit(to)
	for i := 0; i < len(list)-1; {
		if without := slices.Delete(slices.Clone(list), i, i+1); isPossible(without) {
			list = without
		} else {
			i++
		}
	}
	return list
}

// isPossible reports whether each run can use what the runs before it have given.
func isPossible(list []*run) bool {
	var has []item
	for _, r := range list {
		for _, h := range r.needs() {
			if h.from != nil && !slices.ContainsFunc(has, h.covers) {
				return false
			}
		}
		has = append(has, r.allGains()...)
	}
	return true
}

// path lists the visits of a run.
func (r *run) path() (list []*visit) {
	for v := r.end; v != nil; v = v.parent {
		list = append(list, v)
	}
	slices.Reverse(list)
	return list
}

// allUses lists the items that the run uses.
func (r *run) allUses() (list []*holding) {
	for _, v := range r.path() {
		list = append(list, v.uses...)
	}
	return append(list, r.uses...)
}

// allGains lists the items that the run gives.
func (r *run) allGains() (list []item) {
	for _, v := range r.path() {
		list = append(list, v.gains...)
	}
	return append(list, r.gains...)
}

// needs lists the items that the run uses and does not give itself before.
func (r *run) needs() (list []*holding) {
	var has []item
	need := func(uses []*holding) {
		for _, h := range uses {
			if !slices.ContainsFunc(has, h.covers) {
				list = append(list, h)
			}
		}
	}
	for _, v := range r.path() {
		need(v.uses)
		has = append(has, v.gains...)
	}
	need(r.uses)
	return list
}

// conditions lists the conditions of the victim's account that a chain relies on.
func conditions(list []*run) (names []string) {
	var has []item
	for _, r := range list {
		for _, h := range r.needs() {
			if h.kind.IsCondition() && !slices.ContainsFunc(has, h.covers) && !slices.Contains(names, string(h.kind)) {
				names = append(names, string(h.kind))
			}
		}
		has = append(has, r.allGains()...)
	}
	return names
}

// describe returns the run for a report, at the application or the first that can start it.
func (r *run) describe(at *Application) Run {
	if at == nil {
		at = r.application
	}
	if at == nil {
		at = r.start.applications[0]
	}
	d := Run{Application: at.Name}
	var parts []string
	if r.start != nil {
		parts, d.Path = append(parts, r.start.name), r.moves()
	}
	if len(r.operations) > 0 {
		parts = append(parts, names(r.operations))
	}
	d.Flow, d.Gains = strings.Join(parts, ", "), r.gain(at)
	return d
}

// moves lists the nodes of the run with the outcomes that it left them by.
func (r *run) moves() (list []Move) {
	visits := r.path()
	for i, v := range visits {
		n := &r.start.nodes[v.node]
		m, edge := Move{Node: n.id}, r.edge
		if i+1 < len(visits) {
			edge = visits[i+1].edge
		}
		if edge >= 0 {
			m.Outcome = n.edges[edge].outcome
		}
		list = append(list, m)
	}
	return list
}

// gain names the results of the run.
func (r *run) gain(at *Application) string {
	var gains []string
	for _, it := range r.allGains() {
		text := string(it.kind)
		if isCredential(it.kind) {
			text = fmt.Sprintf("%s (%s)", it.kind, it.worth.class())
		}
		if it.kind != aSession && it.kind != hasApp && it.kind != hasCodes && !slices.Contains(gains, text) {
			gains = append(gains, text)
		}
	}
	if r.token != (proof{}) {
		gains = append(gains, fmt.Sprintf("tokens of %s (%s)", at.Name, r.token.class()))
	}
	return strings.Join(gains, ", ")
}
