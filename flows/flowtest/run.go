package flowtest

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"sync"

	"github.com/postern-id/postern/engine"
)

// Report is what came of a scenario file.
type Report struct {
	// Results are in the order of the file.
	Results []Result
	// Coverage is what the scenarios reached.
	Coverage Coverage
}

// Failed counts the scenarios that failed.
func (r *Report) Failed() (n int) {
	for _, result := range r.Results {
		if result.Failure != nil {
			n++
		}
	}
	return n
}

// Result is what came of one scenario.
type Result struct {
	Name string
	Line int // where it begins
	// Failure is nil if the scenario passed.
	Failure *Failure
	// Transcript tells what was sent and what came, a line each, up to the step that
	// failed. It is there if the scenario failed or the Runner keeps them all.
	Transcript []string
}

// Runner runs scenarios. The zero value runs all of them.
type Runner struct {
	// Only, if not nil, leaves out the scenarios whose name it does not match.
	Only *regexp.Regexp
	// Transcripts keeps those of scenarios that pass, too.
	Transcripts bool
}

// Run runs every scenario of the file.
func (f *File) Run(ctx context.Context) (*Report, error) { return Runner{}.Run(ctx, f) }

// scenariosPerWorker is how many scenarios are worth another compilation of the flow.
const scenariosPerWorker = 16

// Run runs scenarios of the file, as many at a time as there are processors; each
// has a store, devices and a clock of its own. The error is for a flow that does not
// compile or a file that makes no sense; failed scenarios are in the report.
func (r Runner) Run(ctx context.Context, f *File) (*Report, error) {
	chosen := r.chosen(f)
	worlds := []*environment{}
	for range min(runtime.GOMAXPROCS(0), 1+len(chosen)/scenariosPerWorker) {
		w, err := newEnvironment(f)
		if err != nil {
			return nil, err
		}
		worlds = append(worlds, w)
	}
	results, errs := make([]Result, len(chosen)), make([]error, len(chosen))
	next := make(chan int)
	var workers sync.WaitGroup
	for _, w := range worlds {
		workers.Go(func() {
			for i := range next {
				results[i], errs[i] = r.runOne(ctx, w, chosen[i])
			}
		})
	}
	for i := range chosen {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return &Report{Results: results, Coverage: covered(f, worlds)}, nil
}

// chosen are the numbers of the scenarios to run.
func (r Runner) chosen(f *File) (list []int) {
	for i, s := range f.Scenarios {
		if r.Only == nil || r.Only.MatchString(s.Name) {
			list = append(list, i)
		}
	}
	return list
}

// runOne runs the scenario of the number i. The error is for a file that makes no
// sense.
func (r Runner) runOne(ctx context.Context, w *environment, i int) (Result, error) {
	s := w.file.Scenarios[i]
	if err := w.reset(ctx, s); err != nil {
		return Result{}, err
	}
	p := &scenarioRun{environment: w, scenario: s, number: i}
	w.engine.Observe = func(_ *engine.Graph, node, outcome string) { p.left = append(p.left, exit{node, outcome}) }
	result := Result{Name: s.Name}
	result.Line, _ = w.file.place(scenarioPath(i))
	if err := p.open(ctx); err != nil {
		return Result{}, fmt.Errorf("%s:%d: the browser of %q: %w", w.file.path, result.Line, s.Name, err)
	}
	result.Failure = p.play(ctx)
	if result.Failure != nil || r.Transcripts {
		result.Transcript = p.transcript
	}
	w.count(p.left)
	return result, nil
}

// count adds what one scenario reached: each outcome once.
func (w *environment) count(left []exit) {
	seen := map[exit]bool{}
	for _, at := range left {
		if !seen[at] {
			w.reached[at]++
		}
		seen[at] = true
	}
}
