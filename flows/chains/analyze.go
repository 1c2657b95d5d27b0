package chains

import (
	"cmp"
	"fmt"
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

// Way is a shortest chain of runs to a target, and the conditions of the victim's account that
// it relies on.
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

	represents map[string]string // the id in targets by the id of any application
}

// Analyze finds the ways of a system, waived ones included.
func Analyze(s *System) (*Report, error) { return analyze(s, false) }

// AnalyzeUnwaived finds the ways of a system that need nothing waived.
func AnalyzeUnwaived(s *System) (*Report, error) { return analyze(s, true) }

func analyze(s *System, strict bool) (*Report, error) {
	merged, represents, names := s.merge()
	a := &analysis{system: merged, strict: strict}
	for _, k := range []kind{aMailbox, aPassword, manager, noApp, hasApp, noCodes, hasCodes, noAddress, invited} {
		worth := proof{}
		if k == aMailbox || k == aPassword {
			worth = k.nominal()
		}
		a.index(item{k, worth})
	}
	if err := a.findSteps(); err != nil {
		return nil, err
	}
	r := a.report()
	r.represents, r.Names = represents, names
	return r, nil
}

// findSteps explores all flows until nothing is new.
func (a *analysis) findSteps() error {
	for a.grown = true; a.grown; {
		a.grown = false
		for i := range a.system.Applications {
			app := &a.system.Applications[i]
			a.addOperations(app)
			for j := range app.Flows {
				if err := a.explore(app, &app.Flows[j]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// addOperations adds what can be done without a flow: with a token of an application, add a
// credential of each kind; with a client that manages users, set a password.
func (a *analysis) addOperations(app *Application) {
	if app.ManagesUsers {
		set := itemSet{}.with(a.index(item{aPassword, aPassword.nominal()}))
		a.record(step{app, "PUT /users/{id}", nil, itemSet{}.with(a.condition(manager)), set, proof{}})
	}
	if !app.Account {
		return
	}
	for _, s := range slices.Clone(a.steps) {
		if s.application != app || s.token == (proof{}) || strings.Contains(s.flow, ", P") {
			continue
		}
		used := s.used
		if !s.token.holds {
			used = used.with(a.condition(noApp)).with(a.condition(noCodes))
		}
		gains := s.gains
		for _, k := range []kind{aPasskey, aPassword, anApp, codes} {
			gains = gains.with(a.index(item{k, k.nominal().limit(s.token)}))
		}
		a.record(step{app, s.flow + ", POST /register/passkey/start, PUT /users/me/password or POST /users/me/factors", s.path, used, gains, s.token})
	}
}

// targets returns what a step leads to, apart from sessions.
func (a *analysis) targets(s *step) (list []Target) {
	for _, class := range schemas.PlainACRs(s.token.class()) {
		list = append(list, Target{Application: s.application.ID, Name: s.application.Name, Class: class})
	}
	for _, i := range s.gains.indexes() {
		if it := a.items[i]; it.kind != aSession {
			for _, class := range schemas.PlainACRs(it.worth.class()) {
				list = append(list, Target{Credential: string(it.kind), Class: class})
			}
		}
	}
	return list
}

// report finds the shortest chains.
func (a *analysis) report() *Report {
	r := &Report{}
	// Of chains with the same number of runs, the one with the fewest conditions is reported.
	slices.SortStableFunc(a.steps, func(s, t step) int {
		return cmp.Or(len(s.used.indexes())-len(t.used.indexes()), len(s.gains.indexes())-len(t.gains.indexes()))
	})
	for _, means := range allMeans() {
		shortest := map[Target][]int{}
		var order []Target
		for _, has := range a.accounts(means) {
			a.reach(has, func(last int, runs []int) {
				for _, t := range a.targets(&a.steps[last]) {
					known, ok := shortest[t]
					if !ok {
						order = append(order, t)
					}
					if !ok || len(runs) < len(known) {
						shortest[t] = runs
					}
				}
			})
		}
		for _, t := range order {
			if !r.Reaches(t, means) {
				r.Ways = append(r.Ways, a.way(t, means, shortest[t]))
			}
		}
	}
	slices.SortStableFunc(r.Ways, func(v, w Way) int {
		return cmp.Or(cmp.Compare(v.Target.Application, w.Target.Application), cmp.Compare(v.Target.Credential, w.Target.Credential),
			slices.Index(schemas.ACRs(), v.Target.Class)-slices.Index(schemas.ACRs(), w.Target.Class))
	})
	return r
}

// Reaches reports whether an attacker with these means gets to the target.
func (r *Report) Reaches(t Target, m Means) bool {
	app := cmp.Or(r.represents[t.Application], t.Application)
	return slices.ContainsFunc(r.Ways, func(w Way) bool {
		return w.Target.Application == app && w.Target.Credential == t.Credential && w.Target.Class == t.Class && w.Means.within(m)
	})
}

// way describes a chain.
func (a *analysis) way(t Target, means Means, runs []int) Way {
	w := Way{Target: t, Means: means}
	for _, i := range runs {
		s := &a.steps[i]
		for _, used := range s.used.indexes() {
			if k := a.items[used].kind; k.isCondition() && !slices.Contains(w.Conditions, string(k)) {
				w.Conditions = append(w.Conditions, string(k))
			}
		}
		w.Chain = append(w.Chain, Run{Application: s.application.Name, Flow: s.flow, Path: s.path, Gains: a.describe(s)})
	}
	return w
}

// describe names the results of a step.
func (a *analysis) describe(s *step) string {
	var gains []string
	for _, i := range s.gains.indexes() {
		if it := a.items[i]; it.kind != aSession {
			gains = append(gains, fmt.Sprintf("%s (%s)", it.kind, it.worth.class()))
		}
	}
	if s.token != (proof{}) {
		gains = append(gains, fmt.Sprintf("tokens of %s (%s)", s.application.Name, s.token.class()))
	}
	return strings.Join(gains, ", ")
}

// New lists the ways of r that did not exist before: no way led to the target with these means or
// fewer. The tokens of an application that did not exist before are no new way.
func (r *Report) New(before *Report) (list []Way) {
	for _, w := range r.Ways {
		if r.isNew(w, before) {
			list = append(list, w)
		}
	}
	return list
}

// isNew reports whether a way is new to an application that it stands for.
func (r *Report) isNew(w Way, before *Report) bool {
	if w.Target.Credential != "" {
		return !before.Reaches(w.Target, w.Means)
	}
	for id, represented := range r.represents {
		_, existed := before.represents[id]
		if represented == w.Target.Application && existed && !before.Reaches(Target{Application: id, Class: w.Target.Class}, w.Means) {
			return true
		}
	}
	return false
}
