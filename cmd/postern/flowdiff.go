package main

import (
	"errors"
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/diff"
)

type flowDiffCommand struct {
	Format string `enum:"text,json" default:"text" help:"text or json."`
	Old    string `arg:"" help:"A flow file, or - for standard input."`
	New    string `arg:"" help:"The flow file to compare it with."`
}

// Run compares two flows. A flow with findings cannot be compared: that is an error and not
// a difference.
func (c flowDiffCommand) Run(p program) error {
	before, err := p.compileFile(c.Old)
	if err != nil {
		return err
	}
	after, err := p.compileFile(c.New)
	if err != nil {
		return err
	}
	changes := diff.Compare(before, after)
	write := diff.Write
	if c.Format == "json" {
		write = diff.WriteJSON
	}
	if err := write(p.stdout, changes); err != nil {
		return err
	}
	if len(changes) > 0 {
		return errFindings
	}
	return nil
}

func (p program) compileFile(file string) (*engine.Graph, error) {
	g, err := p.compileFlow(file)
	if errors.Is(err, errFindings) {
		return nil, fmt.Errorf("%s has findings: fix them to compare it", file)
	}
	return g, err
}
