package flowtest

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"runtime"
	"sync"

	"github.com/postern-id/postern/engine"
)

// Report is the result of a scenario file.
type Report struct {
	// Results are in the order of the file.
	Results []Result
	// Coverage describes which outcomes the scenarios reached.
	Coverage Coverage
}

// Failed returns the number of failed scenarios.
func (r *Report) Failed() (n int) {
	for _, result := range r.Results {
		if result.Failure != nil {
			n++
		}
	}
	return n
}

// Result is the result of one scenario.
type Result struct {
	Name   string `json:"name"`
	Line   int    `json:"line"` // first line of the scenario
	Passed bool   `json:"passed"`
	// Failure is nil if the scenario passed.
	Failure *Failure `json:"failure,omitempty"`
	// Transcript has one line for each request and reply, up to the failed step. It is set
	// if the scenario failed or Runner.Transcripts is set.
	Transcript []string `json:"transcript,omitempty"`
}

// Runner runs scenarios. The zero value runs all of them.
type Runner struct {
	// Only, if not nil, selects the scenarios whose names match.
	Only *regexp.Regexp
	// Transcripts includes the transcripts of scenarios that pass.
	Transcripts bool
}

// Run runs every scenario of the file.
func (f *File) Run(ctx context.Context) (*Report, error) { return Runner{}.Run(ctx, f) }

// scenariosPerWorker is the number of scenarios that justify another compilation of the
// flow.
const scenariosPerWorker = 16

// Run runs scenarios of the file in parallel, up to one per processor. Each has its own
// store, devices and clock. The error reports a flow that does not compile or an invalid
// file; failed scenarios are in the report.
func (r Runner) Run(ctx context.Context, f *File) (*Report, error) {
	chosen := r.chosen(f)
	environments := make([]*environment, min(runtime.GOMAXPROCS(0), 1+len(chosen)/scenariosPerWorker))
	free := make(chan *environment, len(environments))
	for i := range environments {
		w, err := newEnvironment(f)
		if err != nil {
			return nil, err
		}
		environments[i] = w
		free <- w
	}
	results, errs := make([]Result, len(chosen)), make([]error, len(chosen))
	var workers sync.WaitGroup
	for i, number := range chosen {
		w := <-free
		workers.Go(func() {
			results[i], errs[i] = r.runOne(ctx, w, number)
			free <- w
		})
	}
	workers.Wait()
	return &Report{Results: results, Coverage: covered(f, environments)}, cmp.Or(errs...)
}

// chosen returns the indexes of the scenarios to run.
func (r Runner) chosen(f *File) (list []int) {
	for i, s := range f.Scenarios {
		if r.Only == nil || r.Only.MatchString(s.Name) {
			list = append(list, i)
		}
	}
	return list
}

// runOne runs the scenario with the index i. The error reports an invalid file.
func (r Runner) runOne(ctx context.Context, w *environment, i int) (Result, error) {
	result := Result{Name: w.file.Scenarios[i].Name}
	result.Line, _ = w.file.place(scenarioPath(i))
	p, err := w.begin(ctx, i)
	if err != nil {
		return Result{}, err
	}
	result.Failure = p.play(ctx)
	result.Passed = result.Failure == nil
	if !result.Passed || r.Transcripts {
		result.Transcript = p.transcript()
	}
	w.count(p.left)
	return result, nil
}

// begin prepares the environment for the scenario with the index i, which has sent nothing yet.
func (w *environment) begin(ctx context.Context, i int) (*scenarioRun, error) {
	s := w.file.Scenarios[i]
	if err := w.reset(ctx, s); err != nil {
		return nil, err
	}
	p := &scenarioRun{environment: w, number: i, answers: map[string]map[string]string{}, normalizer: normalizer{}}
	w.engine.Observe = func(_ *engine.Graph, node, outcome string) { p.left = append(p.left, Exit{node, outcome}) }
	if err := p.open(ctx); err != nil {
		line, _ := w.file.place(scenarioPath(i))
		return nil, fmt.Errorf("%s:%d: the browser of %q: %w", w.file.path, line, s.Name, err)
	}
	return p, nil
}

// count adds the outcomes that one scenario reached, each once.
func (w *environment) count(left []Exit) {
	seen := map[Exit]bool{}
	for _, at := range left {
		if !seen[at] {
			w.reached[at]++
		}
		seen[at] = true
	}
}
