// Package findings checks many flow and scenario files at once, and writes the findings for
// people, programs, code scanning (SARIF) and GitHub workflows.
package findings

import (
	"cmp"
	"encoding/json"
	"runtime"
	"slices"
	"sync"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/schemas"
)

// Source is a file to check.
type Source struct {
	// Name is its path. The extension determines whether it is a flow in YAML or JSON, or
	// scenarios.
	Name string
	Text []byte
	// JSON parses the text as JSON, whatever the name.
	JSON bool
}

// File is the result for one file. Findings are in the order of their positions.
type File struct {
	Source
	// Handle, FlowType and Nodes describe a valid flow or sub-flow, and Guarantees contains what
	// is proven of it.
	Handle     string
	FlowType   schemas.FlowType
	Nodes      int
	Guarantees schemas.Guarantees
	// Sessions contains its demands of earlier sign-ins.
	Sessions []engine.SessionDemand
	// ID is that of the flow, if the file has one, and Uses lists its nodes that set attributes.
	ID   string
	Uses schemas.AttributeUses
	// Application is the name of the application, or of several, in a file without a flow.
	Application string
	// Scenarios is the number of scenarios in a valid scenario file.
	Scenarios int
	Findings  []schemas.Problem
}

// Refused reports whether any finding is an error.
func (f *File) Refused() bool {
	return slices.ContainsFunc(f.Findings, func(p schemas.Problem) bool { return !p.Warning })
}

// Checker checks files.
type Checker struct {
	Kinds engine.Kinds
	// Subflows returns the sub-flows that the flow in a file may use. Nil means none.
	Subflows func(file string) schemas.Subflows
	// UserTypes returns the user types for the flow in a file. Nil, or none, means that they are not
	// known.
	UserTypes func(file string) []schemas.UserType
	// Scenarios checks a scenario file and returns the number of scenarios. Its findings have no
	// rule.
	Scenarios func(path string, text []byte) (int, []schemas.Problem)
	// ScenarioRule is the rule of the findings of Scenarios.
	ScenarioRule string
}

// Check checks n files, as many at once as there are processors, and returns the results in
// their order. It calls read with the number of each file, and returns the first error of read.
func (c Checker) Check(n int, read func(i int) (Source, error)) ([]File, error) {
	list, errs := make([]File, n), make([]error, n)
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for i := range n {
		free <- struct{}{}
		workers.Go(func() {
			defer func() { <-free }()
			var s Source
			if s, errs[i] = read(i); errs[i] == nil {
				list[i] = c.checkOne(s)
			}
		})
	}
	workers.Wait()
	return list, cmp.Or(errs...)
}

func (c Checker) checkOne(s Source) File {
	f := File{Source: s}
	if flows.IsScenarios(s.Name) && !s.JSON {
		f.Scenarios, f.Findings = c.Scenarios(s.Name, s.Text)
		for i := range f.Findings {
			f.Findings[i].Rule = c.ScenarioRule
		}
		return f
	}
	var subflows schemas.Subflows = schemas.SubflowsOf{}
	if c.Subflows != nil {
		subflows = c.Subflows(s.Name)
	}
	_, g, problems := engine.CheckUsing(s.Text, !s.JSON && !flows.IsJSON(s.Name), c.Kinds, subflows)
	if f.Findings = problems; g != nil {
		f.Handle, f.FlowType, f.ID, f.Uses = g.Flow().Handle, g.Flow().FlowType, g.Flow().ID, g.AttributeUses()
		f.Nodes, f.Guarantees, f.Sessions = len(g.Flow().Nodes), g.Guarantees(), g.Sessions()
		var types []schemas.UserType
		if c.UserTypes != nil {
			types = c.UserTypes(s.Name)
		}
		if misspelled := checkAttributes(g, types); len(misspelled) > 0 {
			f.Findings = f.Locate(append(f.Findings, misspelled...))
		}
	}
	return f
}

// FromStream returns the source of a flow without a file. Valid JSON is JSON, everything else
// YAML.
func FromStream(name string, text []byte) Source {
	return Source{Name: name, Text: text, JSON: json.Valid(text)}
}

// root returns the finding that p follows from; nil if there is none.
func root(p schemas.Problem, list []schemas.Problem) *schemas.Problem {
	if i := slices.IndexFunc(list, p.Follows.IsOf); i >= 0 && list[i].Follows == nil {
		return &list[i]
	}
	return nil
}

// consequences returns the findings that follow from p.
func consequences(p schemas.Problem, list []schemas.Problem) (following []schemas.Problem) {
	if p.Follows != nil {
		return nil
	}
	for _, other := range list {
		if other.Follows.IsOf(p) {
			following = append(following, other)
		}
	}
	return following
}

// severity returns "error" or "warning".
func severity(p schemas.Problem) string {
	if p.Warning {
		return "warning"
	}
	return "error"
}
