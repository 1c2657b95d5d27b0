package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/draw"
	"github.com/postern-id/postern/flows/findings"
	"github.com/postern-id/postern/nodes"
)

type flowGraphCommand struct {
	Format   string `enum:"mermaid,dot" default:"mermaid" help:"mermaid or dot."`
	Output   string `short:"o" type:"path" help:"The file to write; by default standard output."`
	Coverage bool   `help:"Run the scenarios of the flow and mark what they do not reach."`
	File     string `arg:"" help:"A flow file, or - for standard input."`
}

// Run draws a flow.
func (c flowGraphCommand) Run(ctx context.Context, p program) error {
	g, err := p.graph(c.File)
	if err != nil {
		return err
	}
	var options draw.Options
	if c.Coverage {
		if options.Reached, err = reached(ctx, c.File); err != nil {
			return err
		}
	}
	drawing := draw.Mermaid(g, options)
	if c.Format == "dot" {
		drawing = draw.DOT(g, options)
	}
	return p.writeTo(c.Output, func(w io.Writer) error {
		_, err := io.WriteString(w, drawing)
		return err
	})
}

// graph compiles the flow of a file. What is wrong with it is printed.
func (p program) graph(file string) (*engine.Graph, error) {
	s, err := p.source(file)
	if err != nil {
		return nil, err
	}
	if flows.IsScenarios(s.Name) {
		return nil, fmt.Errorf("%s: these are scenarios; expected a flow", file)
	}
	_, g, problems := engine.Check(s.Text, !s.JSON && !flows.IsJSON(s.Name), nodes.Kinds(nodes.Deps{}))
	if g == nil {
		if p.stderr == nil {
			return nil, errFindings
		}
		err := findings.Text{}.Write(p.stderr, []findings.File{{Source: s, Findings: problems}})
		return nil, errors.Join(errFindings, err)
	}
	return g, nil
}

// reached runs the scenarios beside a flow and tells what they reach.
func reached(ctx context.Context, file string) (func(node, outcome string) bool, error) {
	scenarios := flows.ScenariosOf(file)
	if _, err := os.Stat(scenarios); err != nil {
		return nil, fmt.Errorf("there are no scenarios of %s: expected them in %s", file, scenarios)
	}
	report, err := runScenarios(ctx, scenarios)
	if err != nil {
		return nil, err
	}
	return func(node, outcome string) bool {
		return !slices.Contains(report.Missed, strings.TrimSuffix(node+" "+outcome, " "))
	}, nil
}
