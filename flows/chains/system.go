package chains

import (
	"fmt"
	"slices"

	"github.com/postern-id/postern/engine"
)

// System is everything that the analysis considers.
type System struct {
	Applications []Application
	// NoMail says that the server has no mail server, so that email-otp sends no codes.
	NoMail bool
}

// Application is an application with the flows that it can start.
type Application struct {
	// ID distinguishes applications; Name is for people.
	ID, Name string
	Flows    []Flow
	// Account says that a token of the application can change the account of its user (scope
	// account or system): it can add credentials.
	Account bool
	// ManagesUsers says that the application has a client that manages users (the grant
	// client_credentials with system:users:write or system).
	ManagesUsers bool
	// Unlimited says that this client has the permission system, which adds passkeys to any account.
	Unlimited bool
}

// Flow contains the parts of a compiled flow that the analysis needs.
type Flow struct {
	ID, Name string
	Nodes    []engine.Node
	// Guarantee is the class that the flow guarantees, "" for none. The server refuses a limited
	// credential that proves less.
	Guarantee string

	prepared *program // of FlowOf
}

// FlowOf returns the flow of a compiled graph.
func FlowOf(g *engine.Graph) Flow {
	f := Flow{Name: g.Flow().Handle, Nodes: g.Nodes(), Guarantee: g.Flow().Guarantees.Class()}
	f.prepared = prepare(&f)
	return f
}

// program returns the flow in the form that the search walks.
func (f *Flow) program() *program {
	if f.prepared == nil {
		f.prepared = prepare(f)
	}
	return f.prepared
}

// isWaived reports whether the flow has a waiver for the ways that the node opens.
func isWaived(n *engine.Node) bool { return slices.Contains(n.Waived, engine.RuleChain) }

// merge returns the system with one application for those that start the same flows with the same
// permissions. represents maps the id of each application to the one that stands for it.
func (s *System) merge() (merged *System, represents map[string]string, names map[string][]string) {
	merged, represents, names = &System{NoMail: s.NoMail}, map[string]string{}, map[string][]string{}
	known := map[string]string{}
	for _, a := range s.Applications {
		key := fmt.Sprint(a.Account, a.ManagesUsers, a.Unlimited)
		for _, f := range a.Flows {
			key += fmt.Sprintf(" %q %q", f.ID, f.Name)
		}
		id, seen := known[key]
		if !seen {
			id, known[key] = a.ID, a.ID
			merged.Applications = append(merged.Applications, a)
		}
		represents[a.ID], names[id] = id, append(names[id], a.Name)
	}
	return merged, represents, names
}

// with returns the system with an application, in place of one with the same id.
func (s *System) with(a Application) *System {
	list := slices.DeleteFunc(slices.Clone(s.Applications), func(other Application) bool { return other.ID == a.ID })
	return &System{Applications: append(list, a), NoMail: s.NoMail}
}

// opensNothing reports whether a change cannot open a way, without a search: each application has at
// most the flows and permissions that it had, and each new application those of an earlier one.
func opensNothing(before, after *System) bool {
	if len(before.Applications) == 0 {
		return true // tokens of new applications are no new way
	}
	had, started := map[string]*Application{}, map[string]bool{}
	for i := range before.Applications {
		a := &before.Applications[i]
		had[a.ID] = a
		for j := range a.Flows {
			started[a.startKey(&a.Flows[j])] = true
		}
	}
	return !slices.ContainsFunc(after.Applications, func(a Application) bool {
		if was := had[a.ID]; was != nil {
			return a.exceeds(was)
		}
		return a.ManagesUsers || slices.ContainsFunc(a.Flows, func(f Flow) bool { return !started[a.startKey(&f)] })
	})
}

// startKey identifies a flow that tokens of the application come from.
func (a *Application) startKey(f *Flow) string { return fmt.Sprint(a.Account, f.program().shape) }

// exceeds reports whether the application has a flow or permission that it did not have.
func (a *Application) exceeds(was *Application) bool {
	return a.Account && !was.Account || a.ManagesUsers && !was.ManagesUsers || a.Unlimited && !was.Unlimited ||
		slices.ContainsFunc(a.Flows, func(f Flow) bool {
			return !slices.ContainsFunc(was.Flows, func(g Flow) bool { return f.program() == g.program() || f.program().shape == g.program().shape })
		})
}
