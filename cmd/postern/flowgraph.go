package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/draw"
	"github.com/postern-id/postern/flows/findings"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/internal/folder"
	"github.com/postern-id/postern/nodes"
)

type flowGraphCommand struct {
	Format   string `enum:"mermaid,dot,svg" default:"mermaid" help:"mermaid, dot or svg."`
	Output   string `short:"o" type:"path" help:"The file to write; by default standard output."`
	Coverage bool   `xor:"coverage" help:"Run the scenarios of the flow and mark what they do not reach."`
	From     string `xor:"coverage" name:"coverage-from" type:"path" placeholder:"FILE" help:"Mark what scenarios did not reach, from a file that flow test --coverage-out wrote."`
	File     string `arg:"" help:"A flow file, or - for standard input."`
}

// Run draws a flow.
func (c flowGraphCommand) Run(ctx context.Context, p program) error {
	g, err := p.compileFlow(c.File)
	if err != nil {
		return err
	}
	var options draw.Options
	switch {
	case c.Coverage:
		options.Reached, err = runCoverage(ctx, c.File)
	case c.From != "":
		options.Reached, err = readCoverage(c.From, c.File, g.Flow().Handle)
	}
	if err != nil {
		return err
	}
	render := map[string]func(*engine.Graph, draw.Options) string{"mermaid": draw.Mermaid, "dot": draw.DOT, "svg": draw.SVG}[c.Format]
	return p.writeTo(c.Output, func(w io.Writer) error {
		_, err := io.WriteString(w, render(g, options))
		return err
	})
}

// compileFlow compiles the flow of a file, which may use the sub-flows in its folder and those of
// the other named files. It prints the errors.
func (p program) compileFlow(file string, with ...string) (*engine.Graph, error) {
	s, err := p.readSource(file)
	if err != nil {
		return nil, err
	}
	if flows.IsScenarios(s.Name) {
		return nil, fmt.Errorf("%s: these are scenarios; expected a flow", file)
	}
	_, g, problems := engine.CheckUsing(s.Text, !s.JSON && !flows.IsJSON(s.Name), nodes.Kinds(nodes.Deps{}), flows.NewSubflowResolver(with...).ForFile(s.Name))
	if g == nil {
		if p.stderr == nil {
			return nil, errFindings
		}
		err := findings.Text{}.Write(p.stderr, []findings.File{{Source: s, Findings: problems}})
		return nil, errors.Join(errFindings, err)
	}
	return g, nil
}

// runCoverage runs the scenarios of a flow file and returns which outcomes they reach.
func runCoverage(ctx context.Context, file string) (func(node, outcome string) bool, error) {
	scenarios := flows.ScenariosOf(file)
	if _, err := os.Stat(scenarios); err != nil {
		return nil, fmt.Errorf("%s has no scenarios: expected them in %s", file, scenarios)
	}
	suite := flowtest.Runner{}.RunFiles(ctx, []string{scenarios})
	if suite[0].Err != nil {
		return nil, suite[0].Err
	}
	return suite[0].Report.Coverage.Reached, nil
}

// readCoverage reads the coverage of a flow from a file. It selects the flow by path, or
// else by handle, because paths may be relative to another folder.
func readCoverage(from, flow, handle string) (func(node, outcome string) bool, error) {
	f, err := folder.Open(from)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := flowtest.ReadCoverage(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	i := slices.IndexFunc(list, func(c flowtest.Coverage) bool { return filepath.Clean(c.File) == filepath.Clean(flow) })
	if i < 0 {
		i = slices.IndexFunc(list, func(c flowtest.Coverage) bool { return c.Handle == handle })
	}
	if i < 0 {
		return nil, fmt.Errorf("%s has no coverage of the flow %s (%s)", from, handle, flow)
	}
	return list[i].Reached, nil
}
