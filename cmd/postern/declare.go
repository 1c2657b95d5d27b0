package main

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/internal/declare"
)

type exportCommand struct {
	Config string `type:"path" help:"The configuration file of the local server."`
	Force  bool   `help:"Write to a folder that contains other files."`
	Dir    string `arg:"" help:"The folder to write. Files of deleted resources are removed from it."`
}

// Run exports the store to files.
func (c exportCommand) Run(ctx context.Context, p program) error {
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return err
	}
	defer h.close()
	progress := p.startProgress("reading the store")
	defer progress.stop()
	files, err := declare.Export(ctx, h.directory)
	if err != nil {
		return err
	}
	progress.next("writing the files")
	declare.NameSchemas(files, h.cfg.Server.PublicURL+schemasPath+"flow.json")
	if err := declare.WriteFolder(c.Dir, files, c.Force); err != nil {
		return err
	}
	progress.stop()
	fmt.Fprintf(p.stdout, "exported %d resources to %s\n", len(files), c.Dir)
	return nil
}

type applyCommand struct {
	Config  string   `type:"path" help:"The configuration file of the local server."`
	Plan    bool     `help:"Print the changes without applying them. The exit code is 1 if there are any."`
	Delete  bool     `help:"Delete resources that no file declares, of each type that has a folder."`
	Secrets []string `type:"path" placeholder:"PATH" help:"A folder with secrets, such as a mounted volume. Files name a secret there by its absolute path."`
	Reason  string   `short:"m" placeholder:"TEXT" help:"The reason for the changes of flows: one line, without secrets. It is stored with the new versions."`
	Dir     string   `arg:"" help:"A folder in the format of postern export."`
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
	progress := p.startProgress("applying the files")
	plan, err := declare.Apply(ctx, h.directory, tree, declare.Options{Secrets: declare.Secrets{Getenv: p.getenv, Folders: c.Secrets, Private: []string{h.cfg.DataDir}}, Plan: c.Plan, Delete: c.Delete, Reason: c.Reason})
	progress.stop()
	if err != nil {
		return err
	}
	plan.Write(p.stdout)
	switch {
	case len(plan.Steps) == 0:
		fmt.Fprintln(p.stdout, "nothing to do: the store matches the files")
	case plan.Applied:
		fmt.Fprintln(p.stdout, "done")
	case c.Plan:
		return errFindings
	default:
		fmt.Fprintln(p.stdout, "nothing was changed: deletions need --delete")
		return errFindings
	}
	return nil
}
