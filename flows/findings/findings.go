// Package findings checks many flow and scenario files at once, and writes what it
// finds for people, programs, code scanning (SARIF) and GitHub workflows.
package findings

import (
	"encoding/json"
	"runtime"
	"sync"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/schemas"
)

// Source is a file that is to be checked.
type Source struct {
	// Name is its path; what it ends with says whether it is a flow in YAML or
	// JSON, or scenarios.
	Name string
	Text []byte
	// JSON has the text read as JSON, whatever the name.
	JSON bool
}

// File is what came of one file. Findings stand in the order of their places.
type File struct {
	Source
	// Handle, FlowType and Nodes are those of a flow that may run, or be part of one,
	// and Guarantees what is proven of it.
	Handle     string
	FlowType   schemas.FlowType
	Nodes      int
	Guarantees schemas.Guarantees
	// Sessions is what it demands of earlier sign-ins.
	Sessions []engine.SessionDemand
	// Scenarios is how many a good scenario file has.
	Scenarios int
	Findings  []schemas.Problem
}

// Refused reports whether any finding is more than a warning.
func (f *File) Refused() bool {
	for _, p := range f.Findings {
		if !p.Warning {
			return true
		}
	}
	return false
}

// Checker checks files.
type Checker struct {
	Kinds engine.Kinds
	// Subflows returns the sub-flows that the flow of a file may use; nil: none.
	Subflows func(file string) schemas.Subflows
	// Scenarios checks a scenario file and returns how many scenarios it has. Its
	// findings name no rule.
	Scenarios func(path string, text []byte) (int, []schemas.Problem)
	// ScenarioRule is the rule of what Scenarios finds.
	ScenarioRule string
}

// Check checks files, as many at a time as there are processors, and returns what
// came of each in their order. Read is called for each by its number; the first
// error it returns ends the check.
func (c Checker) Check(n int, read func(i int) (Source, error)) ([]File, error) {
	list := make([]File, n)
	errs := make([]error, n)
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := range next {
				var s Source
				if s, errs[i] = read(i); errs[i] == nil {
					list[i] = c.checkOne(s)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return list, nil
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
		f.Handle, f.FlowType = g.Flow().Handle, g.Flow().FlowType
		f.Nodes, f.Guarantees, f.Sessions = len(g.Flow().Nodes), g.Guarantees(), g.Sessions()
	}
	return f
}

// FromStream returns the source of a flow that has no file. It is JSON if it is
// valid JSON, and YAML else.
func FromStream(name string, text []byte) Source {
	return Source{Name: name, Text: text, JSON: json.Valid(text)}
}

// severity is how a finding is called: error or warning.
func severity(p schemas.Problem) string {
	if p.Warning {
		return "warning"
	}
	return "error"
}
