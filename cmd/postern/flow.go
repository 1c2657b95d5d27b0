package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

type flowCommands struct {
	Check flowCheckCommand `cmd:"" help:"Check and prove flow files; every finding is printed with its line."`
	Test  flowTestCommand  `cmd:"" help:"Run the scenario tests of flow files."`
}

type flowCheckCommand struct {
	Paths []string `arg:"" name:"path" help:"Flow files, or folders of them."`
}

// Run checks every flow file.
func (c flowCheckCommand) Run(p program) error {
	files, err := flowFiles().under(c.Paths)
	if err != nil {
		return err
	}
	kinds := nodes.Kinds(nodes.Deps{})
	bad := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		flow, _, problems := engine.Check(text, !flows.IsJSON(file), kinds)
		refused := printFindings(p.stdout, file, text, problems)
		if refused {
			bad++
			continue
		}
		fmt.Fprintf(p.stdout, "ok\t%s\t%s, %d nodes\n", file, flow.Handle, len(flow.Nodes))
	}
	if bad > 0 {
		fmt.Fprintf(p.stdout, "%d of %d flows have findings\n", bad, len(files))
		return errFindings
	}
	return nil
}

// printFindings prints findings with the line each is about and reports whether
// any of them refuses the flow.
func printFindings(w io.Writer, file string, text []byte, problems []schemas.Problem) (refused bool) {
	lines := strings.Split(string(text), "\n")
	for _, p := range problems {
		severity := "error"
		if p.Warning {
			severity = "warning"
		} else {
			refused = true
		}
		fmt.Fprintf(w, "%s:%d:%d: %s: %s [%s]\n", file, p.Line, p.Column, severity, p.Message, p.Rule)
		if p.Line > 0 && p.Line <= len(lines) {
			line := strings.TrimRight(lines[p.Line-1], "\r")
			fmt.Fprintf(w, "    %s\n    %s^\n", line, indent(line, p.Column-1))
		}
	}
	return refused
}

// indent is white space as wide as the first n characters of line.
func indent(line string, n int) string {
	var b strings.Builder
	for i, r := range []rune(line) {
		if i >= n {
			break
		}
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
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
