package flowtest

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
)

// FileReport is the result of a scenario file: a report, or an error.
type FileReport struct {
	Name   string // as passed to RunFiles
	Report *Report
	Err    error
}

// Suite contains the results of scenario files, in their order.
type Suite []FileReport

// RunFiles runs the scenarios of files in parallel, up to one file per processor. The
// result does not depend on the number of processors.
func (r Runner) RunFiles(ctx context.Context, names []string) Suite {
	suite := make(Suite, len(names))
	running := make(chan bool, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for i, name := range names {
		running <- true
		workers.Go(func() {
			f, err := Load(name)
			suite[i] = FileReport{Name: name, Err: err}
			if err == nil {
				suite[i].Report, suite[i].Err = r.Run(ctx, f)
			}
			<-running
		})
	}
	workers.Wait()
	return suite
}

// Count returns the numbers of scenarios that passed and failed. A file that could not be
// run counts as one failure.
func (s Suite) Count() (passed, failed int) {
	for _, f := range s {
		if f.Err != nil {
			failed++
			continue
		}
		n := f.Report.Failed()
		passed += len(f.Report.Results) - n
		failed += n
	}
	return passed, failed
}

// Coverage returns the coverage of each flow, in order of first appearance. Several files
// can have scenarios of one flow.
func (s Suite) Coverage() []Coverage {
	list := []Coverage{}
	at := map[string]int{} // file of the flow → index
	for _, f := range s {
		if f.Err != nil {
			continue
		}
		c := f.Report.Coverage
		i, met := at[c.File]
		if !met {
			at[c.File] = len(list)
			list = append(list, c.clone())
			continue
		}
		list[i].Add(c)
	}
	return list
}

// Percent returns the percentage of reached outcomes.
func (c *Coverage) Percent() float64 {
	reached, all := c.Count()
	if all == 0 {
		return 100
	}
	return 100 * float64(reached) / float64(all)
}

// Summary describes the coverage: "75.0% (3 of 4 outcomes)".
func (c *Coverage) Summary() string {
	reached, all := c.Count()
	return fmt.Sprintf("%.1f%% (%d of %d outcomes)", c.Percent(), reached, all)
}

// Untested returns the report of a flow without scenarios. The error reports a flow that
// does not compile.
func Untested(flow string) (FileReport, error) {
	f := &File{path: flow, Flow: filepath.Base(flow)}
	w, err := newEnvironment(f)
	if err != nil {
		return FileReport{}, err
	}
	return FileReport{Name: flow, Report: &Report{Coverage: covered(f, []*environment{w})}}, nil
}
