package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/postern-id/postern/flows/flowtest"
)

type flowTestCommand struct {
	Only        string  `name:"run" placeholder:"REGEX" help:"Run only the scenarios whose names match."`
	Verbose     bool    `short:"v" help:"Print every scenario, the transcript of each that fails, and what none of them reached."`
	Format      string  `enum:"text,json,junit" default:"text" help:"How results are written: text, json, or junit (XML for build servers)."`
	Coverage    bool    `help:"Print how many scenarios left each node by each outcome."`
	CoverageMin float64 `placeholder:"PERCENT" help:"Fail if the scenarios reach less than this much of the outcomes of any flow."`
	CoverageOut string  `type:"path" placeholder:"FILE" help:"Write what was reached as JSON, for flow graph --coverage-from."`

	Paths []string `arg:"" name:"path" help:"Scenario files (*_test.yaml, *_test.yml), or folders of them."`
}

// Run runs every scenario file.
func (c flowTestCommand) Run(ctx context.Context, p program) error {
	runner := flowtest.Runner{Transcripts: c.Verbose}
	if c.Only != "" {
		only, err := regexp.Compile(c.Only)
		if err != nil {
			return fmt.Errorf("--run: %w", err)
		}
		runner.Only = only
	}
	files, err := scenarioFiles().under(c.Paths)
	if err != nil {
		return err
	}
	suite := runner.RunFiles(ctx, files)
	passed, failed := suite.Count()
	if passed+failed == 0 {
		return fmt.Errorf("--run: no scenario has a name that matches %q", c.Only)
	}
	if err := c.write(p, suite); err != nil {
		return err
	}
	if thin := c.thin(p, suite.Coverage()); failed > 0 || thin {
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

// thin reports whether the scenarios of a flow reach too little of it, and says so.
func (c flowTestCommand) thin(p program, list []flowtest.Coverage) (thin bool) {
	for _, coverage := range list {
		if coverage.Percent() < c.CoverageMin {
			thin = true
			fmt.Fprintf(p.stderr, "%s: the scenarios reach %s; expected at least %g%%\n", coverage.File, coverage.Words(), c.CoverageMin)
		}
	}
	return thin
}
