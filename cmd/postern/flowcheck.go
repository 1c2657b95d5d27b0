package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/findings"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/flows/rules"
	"github.com/postern-id/postern/nodes"
)

type flowCheckCommand struct {
	Format string `enum:"text,json,sarif,github" default:"text" help:"The format of findings: text, json, sarif (code scanning), or github (workflow commands)."`
	Color  string `enum:"auto,always,never" default:"auto" help:"auto colors text on a terminal, unless NO_COLOR is set."`
	Waived bool   `help:"Print the waived findings in text, and not only their number."`
	claimFlags
	watching
	Paths []string `arg:"" name:"path" help:"Flow and scenario files, folders of them, patterns such as 'flows/*.yaml', or - for a flow on standard input."`
}

// stdinName is the name of the flow on standard input.
const stdinName = "stdin"

// Run checks every file.
func (c flowCheckCommand) Run(ctx context.Context, p program) error {
	return c.run(ctx, p, c.Paths, func() error { return c.check(p) })
}

func (c flowCheckCommand) check(p program) error {
	files, err := checkedFiles().expandPaths(c.Paths)
	if err != nil {
		return err
	}
	list, err := p.findProblems(files)
	if err != nil {
		return err
	}
	findings.ReportHandleConflicts(list, filepath.Dir)
	if list, err = c.reportClaims(list); err != nil {
		return err
	}
	if err := c.write(p, list); err != nil {
		return err
	}
	if slices.ContainsFunc(list, isRefused) {
		return errFindings
	}
	return nil
}

// findProblems checks files.
func (p program) findProblems(files []string) ([]findings.File, error) {
	checker := findings.Checker{Kinds: nodes.Kinds(nodes.Deps{}), Subflows: flows.NewSubflowResolver(filterFlows(files)...).ForFile, UserTypes: new(flows.UserTypes).ForFile, Scenarios: flowtest.Check, ScenarioRule: rules.Scenario}
	if !slices.Contains(files, stdinPath) { // a person may be typing the flow
		progress := p.startProgress("checking the flows")
		defer progress.stop()
	}
	return checker.Check(len(files), func(i int) (findings.Source, error) { return p.readSource(files[i]) })
}

func isRefused(f findings.File) bool { return f.Refused() }

// readSource reads a file, or standard input.
func (p program) readSource(file string) (findings.Source, error) {
	if file == stdinPath {
		text, err := p.readStdin()
		if err != nil {
			return findings.Source{}, fmt.Errorf("standard input: %w", err)
		}
		return findings.FromStream(stdinName, text), nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return findings.Source{}, fmt.Errorf("%s is a folder; expected a flow file", file)
	}
	text, err := flows.Disk{}.ReadFile(file)
	return findings.Source{Name: file, Text: text}, err
}

func (c flowCheckCommand) write(p program, list []findings.File) error {
	switch c.Format {
	case "json":
		return findings.WriteJSON(p.stdout, list)
	case "sarif":
		return findings.WriteSARIF(p.stdout, list, version)
	case "github":
		return findings.WriteGitHub(p.stdout, list)
	}
	return findings.Text{Colour: p.useColor(c.Color), Waived: c.Waived}.Write(p.stdout, list)
}

// useColor reports whether output may be colored. NO_COLOR (no-color.org) with any value
// and a dumb terminal disable it.
func (p program) useColor(when string) bool {
	if when != "auto" {
		return when == "always"
	}
	return isTerminal(p.stdout) && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"
}
