package main

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/internal/declare"
)

type exportCommand struct {
	Config string `type:"path" help:"The configuration file of the server whose store is here."`
	Force  bool   `help:"Write to a folder that has other files in it."`
	Dir    string `arg:"" help:"The folder to write. Files of resources that are gone are removed from it."`
}

// Run exports the store to files.
func (c exportCommand) Run(ctx context.Context, p program) error {
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return err
	}
	defer h.close()
	files, err := declare.Export(ctx, h.directory)
	if err != nil {
		return err
	}
	declare.NameSchemas(files, h.cfg.Server.PublicURL+schemasPath+"flow.json")
	if err := declare.WriteFolder(c.Dir, files, c.Force); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%d resources are in %s\n", len(files), c.Dir)
	return nil
}

type applyCommand struct {
	Config string `type:"path" help:"The configuration file of the server whose store is here."`
	Plan   bool   `help:"Print what would be done, and do nothing. The exit code is 1 if there is something to do."`
	Delete bool   `help:"Delete what no file declares, of the nouns whose folder is there."`
	Dir    string `arg:"" help:"A folder as postern export writes it."`
}

// Run applies files to the store.
func (c applyCommand) Run(ctx context.Context, p program) error {
	tree, err := declare.ReadTree(c.Dir)
	if err != nil {
		return err
	}
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return err
	}
	defer h.close()
	plan, err := declare.Apply(ctx, h.directory, tree, declare.Options{Getenv: p.getenv, Plan: c.Plan, Delete: c.Delete})
	if err != nil {
		return err
	}
	plan.Write(p.stdout)
	switch {
	case len(plan.Steps) == 0:
		fmt.Fprintln(p.stdout, "nothing to do: the store is as the files say")
	case plan.Applied:
		fmt.Fprintln(p.stdout, "done")
	case c.Plan:
		return errFindings
	default:
		fmt.Fprintln(p.stdout, "nothing was done: there is something to delete, and that needs --delete")
		return errFindings
	}
	return nil
}
