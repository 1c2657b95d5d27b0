package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/postern-id/postern/flows/flowtest"
)

type flowCommands struct {
	Check    flowCheckCommand    `cmd:"" help:"Check and prove flow files; every finding is printed with its line."`
	Explain  flowExplainCommand  `cmd:"" help:"Tell why a rule exists and how to mend what breaks it."`
	Graph    flowGraphCommand    `cmd:"" help:"Draw a flow, with what is certain where."`
	Diff     flowDiffCommand     `cmd:"" help:"Compare what two flows mean. The exit code is 1 if they differ."`
	Push     flowPushCommand     `cmd:"" help:"Store flows on a server, each as the next version of what it has."`
	Pull     flowPullCommand     `cmd:"" help:"Write the flows of a server as files."`
	Versions flowVersionsCommand `cmd:"" help:"List the versions that a server has of a flow."`
	Restore  flowRestoreCommand  `cmd:"" help:"Make an older version of a flow the next one."`
	Test     flowTestCommand     `cmd:"" help:"Run the scenario tests of flow files."`
}

type flowTestCommand struct {
	Verbose bool     `short:"v" help:"Print every scenario, and what none of them reached."`
	Paths   []string `arg:"" name:"path" help:"Scenario files (*_test.yaml, *_test.yml), or folders of them."`
}

// Run runs every scenario file.
func (c flowTestCommand) Run(ctx context.Context, p program) error {
	files, err := scenarioFiles().under(c.Paths)
	if err != nil {
		return err
	}
	t := tally{w: p.stdout, verbose: c.Verbose}
	for _, file := range files {
		report, err := runScenarios(ctx, file)
		if err != nil {
			t.failure(file, err.Error())
			continue
		}
		t.report(file, report)
	}
	fmt.Fprintf(p.stdout, "%d passed, %d failed\n", t.passed, t.failed)
	if t.failed > 0 {
		return errFindings
	}
	return nil
}

func runScenarios(ctx context.Context, file string) (*flowtest.Report, error) {
	f, err := flowtest.Load(file)
	if err != nil {
		return nil, err
	}
	return f.Run(ctx)
}

// tally prints what comes of scenarios and counts it.
type tally struct {
	w              io.Writer
	verbose        bool
	passed, failed int
}

// report prints what came of one file.
func (t *tally) report(file string, report *flowtest.Report) {
	for _, r := range report.Results {
		if r.Failure != "" {
			t.failure(file+"\t"+r.Name, r.Failure)
			continue
		}
		t.passed++
		if t.verbose {
			fmt.Fprintf(t.w, "ok\t%s\t%s\n", file, r.Name)
		}
	}
	if !t.verbose {
		return
	}
	for _, missed := range report.Missed {
		fmt.Fprintf(t.w, "--\t%s\tnot reached: %s\n", file, missed)
	}
}

// failure prints what failed, and why on the lines below it.
func (t *tally) failure(what, why string) {
	t.failed++
	fmt.Fprintf(t.w, "FAIL\t%s\n    %s\n", what, strings.ReplaceAll(why, "\n", "\n    "))
}
