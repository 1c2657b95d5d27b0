package chains

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Means are the capabilities of an attacker at the beginning.
type Means struct {
	Mailbox  bool `json:"mailbox,omitempty"`  // reads the mail of the victim's verified address
	Password bool `json:"password,omitempty"` // knows the victim's password
	Manager  bool `json:"manager,omitempty"`  // controls a client that manages users
}

// within reports whether the attacker with n has everything that m has.
func (m Means) within(n Means) bool {
	return (n.Mailbox || !m.Mailbox) && (n.Password || !m.Password) && (n.Manager || !m.Manager)
}

func (m Means) String() string {
	var parts []string
	for _, p := range []struct {
		has  bool
		name string
	}{{m.Mailbox, "the user's mailbox"}, {m.Password, "the user's password"}, {m.Manager, "a client that manages users"}} {
		if p.has {
			parts = append(parts, p.name)
		}
	}
	return cmp.Or(strings.Join(parts, " and "), "an open browser")
}

// allMeans lists the sets of means, smaller ones first.
func allMeans() []Means {
	var list []Means
	for m := range 8 {
		list = append(list, Means{m&1 != 0, m&2 != 0, m&4 != 0})
	}
	size := func(m Means) int { return len(strings.Split(m.String(), " and ")) }
	slices.SortStableFunc(list, func(a, b Means) int { return size(a) - size(b) })
	return list
}

// Target is the goal of a chain: tokens of an application, or a credential of the account.
type Target struct {
	Application string `json:"applicationId,omitempty"` // its id; "" for a credential
	Name        string `json:"application,omitempty"`
	Credential  string `json:"credential,omitempty"` // such as "passkey"; "" for tokens
	Class       string `json:"acr"`                  // a class that the tokens, or a sign-in with the credential, satisfy
}

// Run is one run of a chain.
type Run struct {
	Application string `json:"application"`
	Flow        string `json:"flow"`
	Path        []Move `json:"path,omitempty"`
	Gains       string `json:"gains"` // what the attacker has afterwards
}

// Way is a short chain of runs to a target that needs all of its runs, and the conditions of the
// victim's account that it relies on.
type Way struct {
	Target     Target   `json:"target"`
	Means      Means    `json:"means"`
	Conditions []string `json:"conditions,omitempty"`
	Chain      []Run    `json:"runs"`
}

// Report is the result of an analysis. For each target, Ways has a way for each minimal set of
// means that reaches it. Applications that start the same flows with the same permissions are
// reported once; Names lists the names of all of them by the id in the target.
type Report struct {
	Ways  []Way               `json:"ways"`
	Names map[string][]string `json:"names"`
	// Grants are what accounts at identity providers can get without an administrator.
	Grants []schemas.ProviderGrant `json:"grants,omitempty"`
	// Claims are the claims of applications that users can set, each with one place where they can.
	Claims []schemas.SettableClaim `json:"claims,omitempty"`

	represents map[string]string    // the id in targets by the id of any application
	former     map[string][]*Report // by the id of an application: of systems with an earlier one of its identifiers
}

// Analyze finds the ways of a system, waived ones included. The error is a TooLargeError if the
// system is too large, and that of the context if it ends.
func Analyze(ctx context.Context, s *System) (*Report, error) {
	return analyze(ctx, s, false, allMeans(), MaxMoves)
}

// analysis finds the ways of a system.
type analysis struct {
	system *System
	strict bool // nothing that is waived is possible
	budget *budget
	starts []*start    // the flows, each once
	tokens []operation // what a token can do with the account of its user
	report *Report
	known  map[Target][]Means // of the report

	applications map[string]*Application // by id
}

func analyze(ctx context.Context, s *System, strict bool, means []Means, limit int) (*Report, error) {
	merged, represents, names := s.merge()
	a := &analysis{
		system: merged, strict: strict, budget: &budget{ctx, limit}, tokens: accountToken.operations(), known: map[Target][]Means{}, applications: map[string]*Application{},
		report: &Report{represents: represents, Names: names},
	}
	a.listStarts()
	for _, m := range means {
		if err := a.addWays(m); errors.Is(err, errSpent) {
			return nil, &TooLargeError{Flows: len(a.starts), Applications: len(merged.Applications), Limit: limit}
		} else if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(a.report.Ways, func(v, w Way) int {
		return cmp.Or(cmp.Compare(v.Target.Application, w.Target.Application), cmp.Compare(v.Target.Credential, w.Target.Credential),
			slices.Index(schemas.ACRs(), v.Target.Class)-slices.Index(schemas.ACRs(), w.Target.Class))
	})
	return a.report, nil
}

// listStarts lists the flows with the applications that start them.
func (a *analysis) listStarts() {
	known := map[*program]*start{}
	for i := range a.system.Applications {
		app := &a.system.Applications[i]
		a.applications[app.ID] = app
		for j := range app.Flows {
			p := app.Flows[j].program()
			at := known[p]
			if at == nil {
				at = &start{program: p}
				known[p], a.starts = at, append(a.starts, at)
			}
			at.applications = append(at.applications, app)
			if app.Account && at.account == nil {
				at.account = app
			}
		}
	}
}

// accounts lists what the attacker can start from with these means: the means, and each
// consistent set of conditions of the victim's account.
func accounts(m Means) (list [][]kind) {
	for choice := range 8 {
		app, codes, noCredential := choice&1 != 0, choice&2 != 0, choice&4 != 0
		var has []kind
		for _, k := range []struct {
			kind kind
			has  bool
		}{
			{aMailbox, m.Mailbox}, {noAddress, !m.Mailbox}, {aPassword, m.Password}, {manager, m.Manager},
			{noApp, !app}, {hasApp, app}, {noCodes, !codes}, {hasCodes, codes}, {invited, noCredential},
		} {
			if k.has {
				has = append(has, k.kind)
			}
		}
		if isConsistent(has) {
			list = append(list, has)
		}
	}
	return list
}

// addWays adds a way to each target that these means reach and lesser ones do not.
func (a *analysis) addWays(means Means) error {
	b := &best{results: map[Target]*result{}}
	for _, has := range accounts(means) {
		s, err := a.search(has)
		if err != nil {
			return err
		}
		for _, k := range slices.Sorted(maps.Keys(s.gains)) {
			a.note(b, means, Target{Credential: string(k)}, *s.gains[k])
		}
		for _, at := range s.starts {
			for _, app := range at.applications {
				a.note(b, means, Target{Application: app.ID, Name: app.Name}, at.tokens)
			}
		}
	}
	for _, t := range b.order {
		a.report.Ways = append(a.report.Ways, a.way(t, means, b.results[t].run))
		a.known[t] = append(a.known[t], means)
	}
	return nil
}

// best has the cheapest way to each target.
type best struct {
	results map[Target]*result
	order   []Target
}

// note keeps the results that lead to a target, of each class, for less than known ones.
func (a *analysis) note(b *best, means Means, t Target, list results) {
	if len(list) == 0 {
		return
	}
	for _, class := range schemas.PlainACRs(schemas.ACRMultiFactorPRProtected) {
		t.Class = class
		r := list.cheapest(proofOf(class))
		if r == nil || slices.ContainsFunc(a.known[t], func(m Means) bool { return m.within(means) }) {
			continue
		}
		if b.results[t] == nil {
			b.order = append(b.order, t)
		} else if b.results[t].cost <= r.cost {
			continue
		}
		b.results[t] = r
	}
}

// way describes the way to a target by a run. Its last run starts at the application of the target.
func (a *analysis) way(t Target, means Means, last *run) Way {
	runs := chain(last)
	w := Way{Target: t, Means: means, Conditions: conditions(runs)}
	for _, r := range runs[:len(runs)-1] {
		w.Chain = append(w.Chain, r.describe(nil))
	}
	w.Chain = append(w.Chain, last.describe(a.applications[t.Application]))
	return w
}

// Reaches reports whether an attacker with these means gets to the target.
func (r *Report) Reaches(t Target, m Means) bool {
	app := cmp.Or(r.represents[t.Application], t.Application)
	return slices.ContainsFunc(r.Ways, func(w Way) bool {
		return w.Target.Application == app && w.Target.Credential == t.Credential && w.Target.Class == t.Class && w.Means.within(m)
	})
}

// New lists the ways of r that did not exist before: no way led to the target with these means or
// fewer. The tokens of an application that never existed before are no new way.
func (r *Report) New(before *Report) (list []Way) {
	was, of := before.index(), map[string][]string{}
	for id, represented := range r.represents {
		of[represented] = append(of[represented], id)
	}
	for _, w := range r.Ways {
		if w.Target.Credential != "" && !was.reaches("", w) ||
			slices.ContainsFunc(of[w.Target.Application], func(id string) bool { return was.lacks(id, w) }) {
			list = append(list, w)
		}
	}
	return list
}

// reportIndex finds the means that reach a target.
type reportIndex struct {
	*Report
	means map[Target][]Means
}

func (r *Report) index() reportIndex {
	x := reportIndex{r, map[Target][]Means{}}
	for _, w := range r.Ways {
		t := w.Target
		t.Name = ""
		x.means[t] = append(x.means[t], w.Means)
	}
	return x
}

// reaches reports whether a way led to the target of w, at the application that stands for another,
// with the means of w.
func (x reportIndex) reaches(application string, w Way) bool {
	t := Target{Application: application, Credential: w.Target.Credential, Class: w.Target.Class}
	return slices.ContainsFunc(x.means[t], func(m Means) bool { return m.within(w.Means) })
}

// lacks reports whether an application existed, or an earlier one that had its identifiers, and no way
// led to what w leads to.
func (x reportIndex) lacks(id string, w Way) bool {
	if represented, existed := x.represents[id]; existed && !x.reaches(represented, w) {
		return true
	}
	return slices.ContainsFunc(x.former[id], func(last *Report) bool {
		return !last.Reaches(Target{Application: id, Class: w.Target.Class}, w.Means)
	})
}
