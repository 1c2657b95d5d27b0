package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/flowtest"
)

type flowTestCommand struct {
	Only        string  `name:"run" placeholder:"REGEX" help:"Run only the scenarios whose names match."`
	Verbose     bool    `short:"v" help:"Print every scenario, the transcript of each failure, and the outcomes that no scenario reached."`
	Format      string  `enum:"text,json,junit" default:"text" help:"The format of results: text, json, or junit (XML for build servers)."`
	Coverage    bool    `help:"Print how many scenarios reach each outcome of each node."`
	CoverageMin float64 `placeholder:"PERCENT" help:"Fail if the scenarios of a flow reach less than this percentage of its outcomes."`
	CoverageOut string  `type:"path" placeholder:"FILE" help:"Write the coverage as JSON, for flow graph --coverage-from."`

	watching
	Paths []string `arg:"" name:"path" help:"Scenario files (*_test.yaml, *_test.yml), or folders of them."`
}

// Run runs every scenario file.
func (c flowTestCommand) Run(ctx context.Context, p program) error {
	return c.run(ctx, p, c.Paths, func() error { return c.test(ctx, p) })
}

func (c flowTestCommand) test(ctx context.Context, p program) error {
	runner := flowtest.Runner{Transcripts: c.Verbose}
	if c.Only != "" {
		only, err := regexp.Compile(c.Only)
		if err != nil {
			return fmt.Errorf("--run: %w", err)
		}
		runner.Only = only
	}
	files, err := scenarioFiles().expandPaths(c.Paths)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(files, flows.IsFlow); i >= 0 {
		return fmt.Errorf("%s: this is a flow; expected the file of its scenarios, such as %s", files[i], flows.ScenariosOf(files[i]))
	}
	progress := p.startProgress("running the scenarios")
	suite := runner.RunFiles(ctx, files)
	progress.stop()
	passed, failed := suite.Count()
	if passed+failed == 0 {
		return fmt.Errorf("--run: no scenario has a name that matches %q", c.Only)
	}
	if c.Coverage || c.CoverageMin > 0 || c.CoverageOut != "" {
		suite = append(suite, untestedFlows(c.Paths, suite)...)
	}
	if err := c.write(p, suite); err != nil {
		return err
	}
	if thin := c.isCoverageTooLow(p, suite.Coverage()); failed > 0 || thin {
		return errFindings
	}
	return nil
}

func (c flowTestCommand) write(p program, suite flowtest.Suite) (err error) {
	switch c.Format {
	case "json":
		err = flowtest.WriteJSON(p.stdout, suite)
	case "junit":
		err = flowtest.WriteJUnit(p.stdout, suite)
	default:
		err = flowtest.Text{Verbose: c.Verbose, Coverage: c.Coverage}.Write(p.stdout, suite)
	}
	if c.CoverageOut == "" {
		return err
	}
	return errors.Join(err, p.writeTo(c.CoverageOut, func(w io.Writer) error {
		return flowtest.WriteCoverage(w, suite.Coverage())
	}))
}

// isCoverageTooLow reports whether the scenarios of a flow reach too few outcomes, and
// prints which.
func (c flowTestCommand) isCoverageTooLow(p program, list []flowtest.Coverage) (thin bool) {
	for _, coverage := range list {
		if coverage.Percent() < c.CoverageMin {
			thin = true
			fmt.Fprintf(p.stderr, "%s: the scenarios reach %s; expected at least %g%%\n", coverage.File, coverage.Summary(), c.CoverageMin)
		}
	}
	return thin
}

// untestedFlows returns the flows in folders without a scenario. It skips files that do not
// compile, which flow check reports.
func untestedFlows(paths []string, tested flowtest.Suite) (list flowtest.Suite) {
	seen := map[string]bool{}
	for _, c := range tested.Coverage() {
		seen[c.File] = true
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		found, err := flowFiles().expandPath(path)
		if err != nil {
			continue // it was read a moment ago
		}
		for _, file := range found {
			report, err := flowtest.Untested(file)
			if err == nil && !seen[report.Report.Coverage.File] {
				list = append(list, report)
				seen[report.Report.Coverage.File] = true
			}
		}
	}
	return list
}
