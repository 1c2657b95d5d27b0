package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/diff"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

type flowResetCommand struct {
	Handle string `arg:"" help:"The handle of a built-in flow."`
	Plan   bool   `help:"Print the changes without applying them. The exit code is 1 if there are any."`
	Reason string `short:"m" placeholder:"TEXT" help:"The reason for the change: one line, without secrets. It is stored with the new version."`
	flowServer
}

// Run makes the built-in flow of this release the next version of a modified one.
func (c flowResetCommand) Run(ctx context.Context, p program) error {
	g, err := compileBuiltin(c.Handle)
	if err != nil {
		return err
	}
	server, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	f := g.Flow()
	was, err := server.Find(ctx, f.FlowType, f.Handle)
	if err != nil {
		return err
	}
	if was == nil {
		return fmt.Errorf("the server has no flow %q; it was deleted, or belongs to another release", c.Handle)
	}
	changes, known := compareWithStored(was.Flow, g)
	if known && len(changes) == 0 {
		fmt.Fprintf(p.stdout, "%s: version %d is that of this release already\n", f.Handle, was.ActiveVersion)
		return nil
	}
	if err := diff.Write(p.stdout, changes); err != nil {
		return err
	}
	stored, err := server.Push(ctx, []bootstrap.FlowChange{{Flow: f, Was: was}}, c.Reason, c.Plan)
	if err != nil {
		return err
	}
	if c.Plan {
		return errFindings
	}
	fmt.Fprintf(p.stdout, "%s: version %d\n", f.Handle, stored[0].ActiveVersion)
	return nil
}

// compileBuiltin compiles a built-in flow of this program.
func compileBuiltin(handle string) (*engine.Graph, error) {
	builtin, err := flows.Builtin()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(builtin, func(f schemas.Flow) bool { return f.Handle == handle })
	if i < 0 {
		return nil, fmt.Errorf("there is no built-in flow %q%s", handle, schemas.Hint(handle, bootstrap.FlowHandles()))
	}
	g, problems := engine.Compile(&builtin[i], nodes.Kinds(nodes.Deps{}))
	if g == nil {
		return nil, flows.Faults(handle, problems)
	}
	return g, nil
}
